// node sdk1.mjs MCP_URL ROBOT_URL: the path of @modelcontextprotocol/sdk 1.x.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Provider, check, walk } from './provider.mjs';

const [url, robot] = process.argv.slice(2);
const provider = new Provider('SDK 1', 'http://127.0.0.1:7778/callback', robot);
let client, transport;
const open = () => {
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  client = new Client({ name: 'probe', version: '1' }, { capabilities: {} });
};
open();
try { await client.connect(transport); check(false, 'connected without signing in'); } catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
  await transport.finishAuth(provider.callback.get('code'));
  open();
  await client.connect(transport);
}
await walk({ client, provider, robot, UnauthorizedError, label: 'sdk1' });
console.log('OK', transport.protocolVersion);
process.exit(0);
