import type { VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import { GatewayError } from '../../../plugin/index.ts';
import { readApiKey, readBase } from '../entry-settings.ts';
import { defineProvider, type OpenableEntry, type ProviderSetup } from '../definition.ts';
import { quote } from '../model-name.ts';
import type { ProviderEntry } from '../provider.ts';
import { betaFilter, checkBetas, countedBetas } from './betas.ts';
import { checkParams } from './check-params.ts';
import { spokenBy, tasksOf } from './families.ts';
import { callerCredentials, keyCredentials } from './credentials.ts';
import { readEmbeddingSettings } from './task-models.ts';
import { readEndpoints } from './endpoint-settings.ts';
import { checkLocation, EXPRESS_HOST, isProjectId, isRegion, vertexHost } from './hosts.ts';
import { needsCallerToken, readIdentity, type Identity } from './identity.ts';
import { expressLocations, vertexLocations, type Locate, type RegionalProject } from './locations.ts';

const COUNTED_MODEL = 'gemini-3.5-flash';
const COUNTED = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'a' }] }] });

type EntryIdentity = Pick<Identity, 'credentials' | 'open'> & { readonly adHoc?: true };

function createEntry(slug: string, allowInsecure: boolean, locate: Locate, identity: EntryIdentity): OpenableEntry {
  const { credentials, adHoc = false } = identity;
  return {
    slug,
    provider: 'vertex-ai',
    semconvName: 'gcp.vertex_ai',
    allowInsecure,
    adHoc,
    usesCallersToken: credentials.ofCaller ?? false,
    /** Undefined until application default credentials have been found. */
    get tokenKey() {
      return credentials.tokenKey;
    },
    locate: (model, call) => locate(model, call, credentials.headers),
    locatesBy: () => credentials.headers,
    /** Lists of models need no right to use them. A count needs the right to predict, and is free (docs/protocols/vertex-ai.md). */
    get proof() {
      const { origin, path, headers } = locate(
        COUNTED_MODEL,
        { task: 'count_tokens', stream: false },
        credentials.headers,
      );
      return { origin, path, headers, body: COUNTED };
    },
    authorize: (caller) => credentials.authorize(caller),
    forgetCredentials: (refused) => credentials.forget?.(refused) ?? false,
    async open() {
      await identity.open?.();
    },
  };
}

export const vertexAi = defineProvider<VertexSettings>({
  name: 'vertex-ai',
  create(entry, setup) {
    if (entry.api_key) return createExpress(entry, entry.api_key, setup);
    const { slug, region, api_version: version = 'v1' } = entry;
    if (region === undefined) {
      // The schema checks this for files; an entry can also be created in code.
      setup.report({ path: [], message: 'give a region, or an api_key for express mode' });
      return undefined;
    }
    const base = readBase(entry, `https://${vertexHost(region)}`, setup.report);
    const identity = readIdentity(entry, setup);
    const endpoints = readEndpoints(entry, setup.report);
    if (!base || !identity || !endpoints) return undefined;
    const claudeCounts = readCountPlace(entry, setup);
    if (claudeCounts === 'refused') return undefined;
    checkLocation('region', region, setup.report);
    checkBetas(entry.anthropic_betas, setup.report);
    const locate = vertexLocations({
      base,
      version,
      projectId: identity.projectId,
      region,
      claudeCounts,
      takesFeature: betaFilter(entry.anthropic_betas),
      takesInCounts: countedBetas(entry.anthropic_betas),
      endpoints,
      embeddings: readEmbeddingSettings(entry.embeddings),
    });
    const { structured_outputs: structuredOutputs = false } = entry;
    const located: typeof locate = (...call) => ({ ...locate(...call), structuredOutputs });
    return createEntry(slug, entry.allow_insecure ?? false, structuredOutputs ? located : locate, identity);
  },
  needsCallerToken,
  checkParams,
  tasksOf: (_, model) => tasksOf(model),
  speaks: (_, model) => spokenBy(model),
});

/** Not every region with Claude counts its tokens (docs/protocols/vertex-ai.md#claude-token-count). */
function readCountPlace(entry: VertexSettings, { report }: ProviderSetup): RegionalProject['claudeCounts'] | 'refused' {
  const { count_tokens_region: region } = entry;
  if (region === undefined) return undefined;
  if (!isRegion(region)) {
    report({ path: ['count_tokens_region'], message: 'count_tokens_region is not a location of Google Cloud' });
    return 'refused';
  }
  checkLocation('count_tokens_region', region, report);
  const base = readBase(entry, `https://${vertexHost(region)}`, report);
  return base ? { base, region } : 'refused';
}

/** Express mode (docs/protocols/vertex-ai.md#express-mode): an API key replaces project, location and identity. */
function createExpress(
  entry: VertexSettings,
  secret: NonNullable<VertexSettings['api_key']>,
  { report }: ProviderSetup,
): OpenableEntry | undefined {
  const base = readBase(entry, `https://${EXPRESS_HOST}`, report);
  const apiKey = readApiKey(secret, report);
  if (!base || apiKey === undefined) return undefined;
  const locate = expressLocations({
    base,
    version: entry.api_version ?? 'v1',
    embeddings: readEmbeddingSettings(entry.embeddings),
  });
  return createEntry(entry.slug, entry.allow_insecure ?? false, locate, { credentials: keyCredentials(apiKey) });
}

/** The request has project, region and token. The caller controls nothing else: the host is always Google's. */
export function createAdHocVertex({ projectId, region }: { projectId: string; region: string }): ProviderEntry {
  if (!isProjectId(projectId)) throw unusablePlace('project id', projectId);
  if (!isRegion(region)) throw unusablePlace('region', region);
  const locate = vertexLocations({
    base: { origin: `https://${vertexHost(region)}`, prefix: '' },
    version: 'v1',
    projectId,
    region,
    takesFeature: betaFilter(),
    takesInCounts: countedBetas(undefined),
    endpoints: new Map(),
    embeddings: readEmbeddingSettings(),
  });
  return createEntry('vertex-ai', false, locate, {
    credentials: callerCredentials('Vertex AI without a catalog entry', 'vertex-ai'),
    adHoc: true,
  });
}

const unusablePlace = (subject: string, value: string): GatewayError =>
  new GatewayError('invalid_header', `The Vertex ${subject} header has an invalid value: ${quote(value)}.`);
