// node sdk2-dpop.mjs MCP_URL ROBOT_URL: @modelcontextprotocol/client 2.x with tokens bound to a key (RFC 9449).
import { Client, DpopSession, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Provider, check } from './provider.mjs';

const [url, robot] = process.argv.slice(2);
class BoundProvider extends Provider {
  session = DpopSession.create();
  dpop() { return this.session; }
}
const provider = new BoundProvider('Client 2 DPoP', 'http://127.0.0.1:7777/callback', robot);
let client, transport;
const open = () => {
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  client = new Client({ name: 'probe', version: '1' });
};
open();
try { await client.connect(transport); check(false, 'connected without signing in'); } catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
  await transport.finishAuth(provider.callback);
  open();
  await client.connect(transport);
}
check(provider.tokens().token_type === 'DPoP', 'the token is ' + provider.tokens().token_type);
const { tools } = await client.listTools();
check(tools.some((t) => t.name === 'where_is'), 'tools/list lacks where_is');
const stolen = await fetch(url, {
  method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  headers: { Authorization: 'Bearer ' + provider.tokens().access_token, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
});
check(stolen.status === 401, 'the bound token works as a bearer token');
const before = provider.tokens();
provider.spoilAccessToken();
const again = await client.callTool({ name: 'where_is', arguments: { query: 'anything' } });
check(again.content.length > 0, 'after the refresh: ' + JSON.stringify(again.content));
const after = provider.tokens();
check(after.access_token !== 'spoiled' && after.refresh_token === before.refresh_token, 'RT-2: a bound refresh token was rotated');
check(provider.authorizations === 1, 'the refresh needed a sign-in');
const ended = await fetch(robot + '/disconnect', { method: 'POST' });
check(ended.ok, 'disconnect: ' + await ended.text());
provider.refuse = true;
let refused;
try { await client.callTool({ name: 'where_is', arguments: { query: 'anything' } }); } catch (e) { refused = e; }
check(refused instanceof UnauthorizedError, 'the call after the disconnect: ' + refused);
console.log('OK', transport.protocolVersion);
process.exit(0);
