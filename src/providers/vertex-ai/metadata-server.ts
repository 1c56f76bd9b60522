import type { ProviderSetup } from '../definition.ts';
import { exchange, readJson, readMintedToken, SCOPE, TokenFault, type TokenCall } from './google-oauth.ts';
import { keyOf, textOf, type SourceContext, type TokenSource } from './token-source.ts';

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';

/**
 * Tokens for the service account of the machine, pod or container in which the gateway runs: Compute Engine, GKE (also with workload
 * identity), Cloud Run (docs/protocols/vertex-ai.md#metadata-server). `GCE_METADATA_HOST` names another host, as in Google's own
 * libraries.
 */
export function metadataServerSource(
  env: ProviderSetup['env'],
  { setup, refuse }: SourceContext,
): TokenSource | undefined {
  const named = textOf(env['GCE_METADATA_HOST']);
  const origin = readOrigin(named ?? HOST);
  if (origin === undefined) return refuse(undefined, 'the environment variable GCE_METADATA_HOST is not host[:port]');
  const url = `${origin}${PATH}?${new URLSearchParams({ scopes: SCOPE }).toString()}`;
  const call: TokenCall = {
    who: named === undefined ? 'the metadata server' : `the metadata server ${origin}`,
    request: {
      url,
      method: 'GET',
      headers: { 'metadata-flavor': 'Google', accept: 'application/json' },
      // The metadata server uses plain http at an internal address.
      allowInsecure: true,
      metadataServer: true,
    },
    secrets: [],
  };
  return {
    key: keyOf('metadata-server', url),
    projectId: undefined,
    quotaProjectId: undefined,
    async mint() {
      const reply = await exchange(call, setup);
      // Another server in its place (a captive portal, a proxy) does not send this header.
      if (reply.headers['metadata-flavor'] !== 'Google') {
        throw new TokenFault(`${call.who} answered ${reply.status} without Metadata-Flavor: Google`);
      }
      return readMintedToken(readJson(reply, call), call.who);
    },
  };
}

/** Accepts a host and a port only: the environment must not change the rest of the address. */
function readOrigin(host: string): string | undefined {
  const url = URL.parse(host.startsWith('http://') ? host : `http://${host}`);
  return url && url.hostname !== '' && url.href === `${url.origin}/` ? url.origin : undefined;
}
