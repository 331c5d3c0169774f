// node gemini.mjs MCP_URL: the sign-in of the Gemini CLI. It asks for a y on stdin and opens xdg-open.
import { MCPOAuthProvider, MCPOAuthTokenStorage } from '@google/gemini-cli-core';

const [url] = process.argv.slice(2);
const storage = new MCPOAuthTokenStorage();
const provider = new MCPOAuthProvider(storage);
const config = { enabled: true };
const first = await provider.authenticate('home', config, url);
const kept = await storage.getCredentials('home');
if (!first.accessToken || !kept?.token?.refreshToken) throw new Error('no tokens were kept');
// The access token lives less than the five minutes that the provider keeps in hand, so that it must refresh.
const valid = await provider.getValidToken('home', { ...config, clientId: kept.clientId });
if (!valid || valid === first.accessToken) throw new Error('it did not refresh');
console.log('TOKEN ' + valid);
process.exit(0);
