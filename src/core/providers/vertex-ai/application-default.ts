import { join } from 'node:path';
import type { ProviderSetup } from '../definition.ts';
import { readCredentialsJson } from './credentials-json.ts';
import { TokenFault, exchange, readJson, readMintedToken, SCOPE, type TokenCall } from './google-oauth.ts';
import { readTextFile, textOf, keyOf, type Refuse, type TokenSource, type SourceContext } from './token-source.ts';

type CredentialSetup = Pick<ProviderSetup, 'upstreamExchange' | 'clock' | 'tokenUris' | 'tokens' | 'env'>;

const VARIABLE = 'GOOGLE_APPLICATION_CREDENTIALS';
const WELL_KNOWN = 'application_default_credentials.json';
/** GKE's metadata server takes a few seconds to answer a new pod. Google's libraries also make three attempts. */
const WAITS_MS = [1_500, 3_000];

/**
 * In Google's order: the file that the environment names, that of `gcloud auth application-default login`, the metadata
 * server. An invalid file is reported, and the search does not continue. Throws TokenFault.
 */
export async function findApplicationDefault(setup: CredentialSetup): Promise<TokenSource> {
  const named = textOf(setup.env[VARIABLE]);
  if (named !== undefined) {
    const source = await readSource(named, setup);
    if (source) return source;
    throw new TokenFault(`${VARIABLE} names ${named}, and there is no such file`);
  }
  const wellKnown = wellKnownFile(setup.env);
  const source = wellKnown === undefined ? undefined : await readSource(wellKnown, setup);
  return source ?? findMetadataServer(setup, wellKnown);
}

function wellKnownFile(env: CredentialSetup['env']): string | undefined {
  const home = textOf(env['HOME']);
  const folder = textOf(env['CLOUDSDK_CONFIG']) ?? (home && join(home, '.config', 'gcloud'));
  return folder && join(folder, WELL_KNOWN);
}

async function readSource(path: string, setup: CredentialSetup): Promise<TokenSource | undefined> {
  const file = await readTextFile(path);
  if ('missing' in file) return undefined;
  if ('problem' in file) throw new TokenFault(`the file ${path} ${file.problem}`);
  const problems: string[] = [];
  const source = readCredentialsJson(file.text, { setup, refuse: collect(problems) });
  if (source) return source;
  throw new TokenFault(`the file ${path}: ${problems.join('; ')}`);
}

/** Fetches a first token from the metadata server: without any credentials the search fails here rather than at a request. */
async function findMetadataServer(setup: CredentialSetup, wellKnown: string | undefined): Promise<TokenSource> {
  const problems: string[] = [];
  const source = metadataServerSource(setup.env, { setup, refuse: collect(problems) });
  if (!source) throw new TokenFault(problems.join('; '));
  try {
    await firstToken(source, setup);
    return source;
  } catch (error) {
    const missing = wellKnown === undefined ? 'HOME is not set either' : `there is no file ${wellKnown}`;
    const reason = error instanceof TokenFault ? error.message : 'the call failed';
    throw new TokenFault(`${VARIABLE} is not set, ${missing}, and the metadata server returned no token: ${reason}`, {
      cause: error,
    });
  }
}

async function firstToken({ key, mint }: TokenSource, { tokens, clock }: CredentialSetup): Promise<void> {
  for (const wait of WAITS_MS) {
    try {
      await tokens.get(key, mint);
      return;
    } catch {
      await clock.sleep(wait);
    }
  }
  await tokens.get(key, mint);
}

function collect(problems: string[]): Refuse {
  return (_, message) => {
    problems.push(message);
    return undefined;
  };
}

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';

/**
 * For the service account of the machine, pod or container (docs/protocols/vertex-ai.md#metadata-server).
 * `GCE_METADATA_HOST` names another host, as in Google's own libraries.
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
