// node remote.mjs MCP_URL ROBOT_URL: mcp-remote as a stdio server, driven by a small host. $BROWSER is the robot's script,
// MCP_REMOTE_CONFIG_DIR an empty folder. The server's access tokens must live less than a minute, so that mcp-remote
// refreshes before a request.
import { spawn } from 'node:child_process';
import { check } from './provider.mjs';

const [url, robot] = process.argv.slice(2);
const child = spawn('node_modules/.bin/mcp-remote', [url, '--allow-http'], { stdio: ['pipe', 'pipe', 'pipe'] });
let buffer = '', log = '';
const waiting = new Map();
child.stderr.on('data', (d) => { log += d; });
child.stdout.on('data', (d) => {
  buffer += d;
  for (let i; (i = buffer.indexOf('\n')) >= 0; buffer = buffer.slice(i + 1)) {
    const line = buffer.slice(0, i);
    if (!line.trim()) continue;
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  }
});
const stop = (code) => { child.kill(); process.exit(code); };
setTimeout(() => { console.error('TIMED OUT\n' + log); stop(1); }, 60000);
const fail = (why) => { console.error('FAILED: ' + why + '\n' + log); stop(1); };
const send = (m) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
let id = 0;
const call = (method, params, ms = 30000) => new Promise((resolve) => {
  const n = ++id;
  waiting.set(n, resolve);
  setTimeout(() => resolve(undefined), ms).unref();
  send({ id: n, method, params });
});

const hello = await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'probe', version: '1' } });
if (!hello?.result) fail('initialize: ' + JSON.stringify(hello));
send({ method: 'notifications/initialized' });
const list = await call('tools/list', {});
if (!list?.result?.tools?.some((t) => t.name === 'add_thing')) fail('tools/list: ' + JSON.stringify(list));
const added = await call('tools/call', { name: 'add_thing', arguments: { items: [{ name: 'Remote torch', new_place: { name: 'Shed' } }] } });
if (!added?.result || added.result.isError) fail('add_thing: ' + JSON.stringify(added));
const found = await call('tools/call', { name: 'where_is', arguments: { query: 'remote torch' } });
if (!found?.result?.content?.[0]?.text.includes('Shed')) fail('where_is: ' + JSON.stringify(found));
const ended = await fetch(robot + '/disconnect', { method: 'POST' });
check(ended.ok, 'disconnect');
const refused = await call('tools/call', { name: 'where_is', arguments: { query: 'remote torch' } }, 5000);
if (refused?.result && !refused.result.isError) fail('the call after the disconnect was answered: ' + JSON.stringify(refused));
console.log('OK');
stop(0);
