import type { VertexEntry as VertexSettings } from '../../../schemas/types.generated.ts';
import { GatewayError } from '../../plugin/index.ts';
import { readBase } from '../base-url.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { quote } from '../model-name.ts';
import type { Location, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { callerCredentials } from './credentials.ts';
import { isProjectId, isRegion, vertexHost } from './hosts.ts';
import { needsCallerToken, readIdentity, type Identity } from './identity.ts';
import { VertexLocations } from './locations.ts';

class VertexEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider = 'vertex-ai';
  readonly semconvName = 'gcp.vertex_ai';
  readonly allowInsecure: boolean;
  readonly #locations: VertexLocations;
  readonly #identity: Pick<Identity, 'credentials' | 'open'>;

  constructor(
    slug: string,
    allowInsecure: boolean,
    locations: VertexLocations,
    identity: Pick<Identity, 'credentials' | 'open'>,
  ) {
    this.slug = slug;
    this.allowInsecure = allowInsecure;
    this.#locations = locations;
    this.#identity = identity;
  }

  /** Known from the start, or once application default credentials have been found. */
  get tokenKey(): string | undefined {
    return this.#identity.credentials.tokenKey;
  }

  locate(model: string, stream: boolean): Location {
    return this.#locations.locate(model, stream, this.#identity.credentials.headers);
  }

  authorize(caller: UpstreamCaller): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#identity.credentials.authorize(caller);
  }

  forgetCredentials(): boolean {
    return this.#identity.credentials.forget?.() ?? false;
  }

  async open(): Promise<void> {
    await this.#identity.open?.();
  }
}

export const vertexAi = defineProvider<VertexSettings>({
  name: 'vertex-ai',
  create(entry, setup) {
    const base = readBase(entry, `https://${vertexHost(entry.region)}`, setup.report);
    const identity = readIdentity(entry, setup);
    if (!base || !identity) return undefined;
    const locations = new VertexLocations(base, identity.projectId, entry.region);
    return new VertexEntry(entry.slug, entry.allow_insecure ?? false, locations, identity);
  },
  needsCallerToken,
});

/**
 * Vertex AI without a catalog entry: project and region come with the request, and so does the token. The caller chooses
 * nothing else: the host is always Google's.
 */
export function createAdHocVertex({ projectId, region }: { projectId: string; region: string }): ProviderEntry {
  if (!isProjectId(projectId)) throw invalidHeader('project id', projectId);
  if (!isRegion(region)) throw invalidHeader('region', region);
  const locations = new VertexLocations({ origin: `https://${vertexHost(region)}`, prefix: '' }, projectId, region);
  return new VertexEntry('vertex-ai', false, locations, {
    credentials: callerCredentials('Vertex AI without a catalog entry', 'vertex-ai'),
  });
}

function invalidHeader(what: string, value: string): GatewayError {
  return new GatewayError(
    'invalid_header',
    `The Vertex ${what} header has a value that cannot be used: ${quote(value)}.`,
  );
}
