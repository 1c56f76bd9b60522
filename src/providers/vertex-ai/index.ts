import type { VertexEntry as VertexSettings } from '../../../schemas/types.generated.ts';
import { GatewayError } from '../../plugin/index.ts';
import { readApiKey } from '../api-key.ts';
import { readBase } from '../base-url.ts';
import { defineProvider, type OpenableEntry, type ProviderSetup } from '../definition.ts';
import { quote } from '../model-name.ts';
import type { ModelCall, Location, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { betaFilter, checkBetas } from './betas.ts';
import { checkParams } from './check-params.ts';
import { tasksOf } from './tasks.ts';
import { callerCredentials, keyCredentials } from './credentials.ts';
import { readEmbeddingSettings } from './embeddings/settings.ts';
import { readEndpoints } from './endpoint-settings.ts';
import { checkLocation, EXPRESS_HOST, isProjectId, isRegion, vertexHost } from './hosts.ts';
import { needsCallerToken, readIdentity, type Identity } from './identity.ts';
import { ExpressLocations, VertexLocations, type Locations, type RegionalProject } from './locations.ts';

class VertexEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider = 'vertex-ai';
  readonly semconvName = 'gcp.vertex_ai';
  readonly allowInsecure: boolean;
  readonly adHoc: boolean;
  readonly #locations: Locations;
  readonly #identity: Pick<Identity, 'credentials' | 'open'>;

  constructor(
    slug: string,
    allowInsecure: boolean,
    locations: Locations,
    identity: Pick<Identity, 'credentials' | 'open'> & { readonly adHoc?: true },
  ) {
    this.slug = slug;
    this.allowInsecure = allowInsecure;
    this.adHoc = identity.adHoc ?? false;
    this.#locations = locations;
    this.#identity = identity;
  }

  /** Undefined until application default credentials have been found. */
  get tokenKey(): string | undefined {
    return this.#identity.credentials.tokenKey;
  }

  locate(model: string, call: ModelCall): Location {
    return this.#locations.locate(model, call, this.#identity.credentials.headers);
  }

  authorize(caller: UpstreamCaller): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#identity.credentials.authorize(caller);
  }

  get usesCallersToken(): boolean {
    return this.#identity.credentials.ofCaller ?? false;
  }

  forgetCredentials(refused: Readonly<Record<string, string>>): boolean {
    return this.#identity.credentials.forget?.(refused) ?? false;
  }

  async open(): Promise<void> {
    await this.#identity.open?.();
  }
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
    const locations = new VertexLocations({
      base,
      version,
      projectId: identity.projectId,
      region,
      claudeCounts,
      takesFeature: betaFilter(entry.anthropic_betas),
      endpoints,
      embeddings: readEmbeddingSettings(entry.embeddings),
    });
    return new VertexEntry(slug, entry.allow_insecure ?? false, locations, identity);
  },
  needsCallerToken,
  checkParams,
  tasksOf: (_, model) => tasksOf(model),
});

/**
 * The location for counting Claude's tokens: not every region that serves Claude does so
 * (docs/protocols/vertex-ai.md#claude-token-count). An entry with a `base_url` keeps it, and only the paths change.
 */
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
  const locations = new ExpressLocations({
    base,
    version: entry.api_version ?? 'v1',
    embeddings: readEmbeddingSettings(entry.embeddings),
  });
  return new VertexEntry(entry.slug, entry.allow_insecure ?? false, locations, { credentials: keyCredentials(apiKey) });
}

/**
 * Vertex AI without a catalog entry: the request has the project, the region and the token. The caller controls nothing else:
 * the host is always Google's.
 */
export function createAdHocVertex(
  { projectId, region }: { projectId: string; region: string },
  code: 'invalid_header' | 'invalid_request' = 'invalid_header',
): ProviderEntry {
  if (!isProjectId(projectId)) throw unusablePlace(code, 'project id', projectId);
  if (!isRegion(region)) throw unusablePlace(code, 'region', region);
  const locations = new VertexLocations({
    base: { origin: `https://${vertexHost(region)}`, prefix: '' },
    version: 'v1',
    projectId,
    region,
    takesFeature: betaFilter(),
    endpoints: new Map(),
    embeddings: readEmbeddingSettings(),
  });
  return new VertexEntry('vertex-ai', false, locations, {
    credentials: callerCredentials('Vertex AI without a catalog entry', 'vertex-ai'),
    adHoc: true,
  });
}

function unusablePlace(code: 'invalid_header' | 'invalid_request', subject: string, value: string): GatewayError {
  const where = code === 'invalid_header' ? 'header' : 'in the path';
  return new GatewayError(code, `The Vertex ${subject} ${where} has an invalid value: ${quote(value)}.`);
}
