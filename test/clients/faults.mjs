// node faults.mjs MCP_URL ROBOT_URL 1|2: an SDK of that major version calls through a network that loses one thing. The
// first call may fail on it; a later one must work without another sign-in.
import { Provider, check } from './provider.mjs';

const [url, robot, major] = process.argv.slice(2);
const sdk = major === '2' ? await import('@modelcontextprotocol/client') : {
  ...await import('@modelcontextprotocol/sdk/client/index.js'),
  ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ...await import('@modelcontextprotocol/sdk/client/auth.js'),
};
const provider = new Provider('Faults ' + major, 'http://127.0.0.1:7790/callback', robot);
let client, transport;
const open = () => {
  transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  client = new sdk.Client({ name: 'probe', version: '1' }, { capabilities: {} });
};
open();
try { await client.connect(transport); check(false, 'connected without signing in'); } catch (e) {
  if (!(e instanceof sdk.UnauthorizedError)) throw e;
  await transport.finishAuth(major === '2' ? provider.callback : provider.callback.get('code'));
  open();
  await client.connect(transport);
}
let answer, last;
for (let i = 0; i < 3 && !answer; i++) {
  try { answer = await client.callTool({ name: 'list_locations', arguments: {} }, undefined, { timeout: 5000 }); } catch (e) { last = e; }
}
check(answer && !answer.isError, 'no call worked: ' + last + ' ' + JSON.stringify(answer));
check(provider.authorizations === 1, 'signed in ' + provider.authorizations + ' times');
console.log('OK');
process.exit(0);
