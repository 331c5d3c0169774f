// node sdk2.mjs MCP_URL ROBOT_URL legacy|auto [DOCUMENT_URL]: the path of @modelcontextprotocol/client 2.x, which registers or,
// with a document, is known by its URL.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Provider, check, walk } from './provider.mjs';

const [url, robot, mode, document] = process.argv.slice(2);
const provider = new Provider('Client 2 ' + mode, 'http://127.0.0.1:7777/callback', robot);
if (document) provider.clientMetadataUrl = document;
let client, transport;
const open = () => {
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  client = new Client({ name: 'probe', version: '1' }, { versionNegotiation: { mode } });
};
open();
try { await client.connect(transport); check(false, 'connected without signing in'); } catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
  await transport.finishAuth(provider.callback);
  open();
  await client.connect(transport);
}
check(!document || provider.clientInformation().client_id === document, 'it registered although it has a document');
await walk({ client, provider, robot, UnauthorizedError, label: 'client2 ' + mode });
console.log('OK', transport.protocolVersion);
process.exit(0);
