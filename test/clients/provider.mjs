// An OAuth client provider that keeps everything in memory and lets the test's robot be the person at the browser.

export class Provider {
  #client; #tokens; #verifier; #discovery;
  authorizations = 0;

  constructor(name, redirect, robot) { this.name = name; this.redirect = redirect; this.robot = robot; }

  get redirectUrl() { return this.redirect; }
  get clientMetadata() {
    return {
      client_name: this.name, redirect_uris: [this.redirect], token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], scope: 'home:read home:write',
    };
  }
  state() { return 'st-' + this.authorizations; }
  clientInformation() { return this.#client; }
  saveClientInformation(c) { this.#client = c; }
  tokens() { return this.#tokens; }
  saveTokens(t) { this.#tokens = t; }
  codeVerifier() { return this.#verifier; }
  saveCodeVerifier(v) { this.#verifier = v; }
  saveDiscoveryState(s) { this.#discovery = s; }
  discoveryState() { return this.#discovery; }
  invalidateCredentials(what) {
    if (what === 'tokens' || what === 'all') this.#tokens = undefined;
    if (what === 'client' || what === 'all') this.#client = undefined;
  }
  // The person: the robot walks sign-in and consent and says where the browser was sent.
  async redirectToAuthorization(url) {
    this.authorizations++;
    if (this.refuse) return;
    const answer = await fetch(this.robot + '/authorize?url=' + encodeURIComponent(url));
    if (!answer.ok) throw new Error('the robot could not authorize: ' + await answer.text());
    this.callback = new URL((await answer.json()).location).searchParams;
  }
  // Makes the stored access token worthless, so that the next request meets a 401 and the client must refresh.
  spoilAccessToken() { this.#tokens = { ...this.#tokens, access_token: 'spoiled' }; }
}

export function check(condition, message) {
  if (!condition) { console.error('FAILED: ' + message); process.exit(1); }
}

// The path every client walks once it is connected.
export async function walk({ client, provider, robot, UnauthorizedError, label }) {
  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name);
  check(names.includes('add_thing') && names.includes('where_is'), 'tools/list lacks the home tools: ' + names);
  const name = 'Torch of ' + label;
  const added = await client.callTool({ name: 'add_thing', arguments: { items: [{ name, new_place: { name: 'Shed' } }] } });
  check(!added.isError, 'add_thing: ' + JSON.stringify(added.content));
  const found = await client.callTool({ name: 'where_is', arguments: { query: name } });
  check(!found.isError && found.content[0].text.includes('Shed'), 'where_is: ' + JSON.stringify(found.content));
  const before = provider.tokens();
  provider.spoilAccessToken();
  const again = await client.callTool({ name: 'where_is', arguments: { query: name } });
  check(!again.isError, 'after the refresh: ' + JSON.stringify(again.content));
  const after = provider.tokens();
  check(after.access_token !== 'spoiled' && after.refresh_token !== before.refresh_token, 'the refresh did not rotate');
  check(provider.authorizations === 1, 'the refresh needed a sign-in');
  const ended = await fetch(robot + '/disconnect', { method: 'POST' });
  check(ended.ok, 'disconnect: ' + await ended.text());
  provider.refuse = true;
  let refused;
  try { await client.callTool({ name: 'where_is', arguments: { query: name } }); } catch (e) { refused = e; }
  check(refused, 'the call after the disconnect was answered');
  check(refused instanceof UnauthorizedError, 'the call after the disconnect failed otherwise: ' + refused);
  check(provider.authorizations === 2, 'the client was not sent to sign in again');
}
