import type { VertexEntry as VertexSettings } from '../../../schemas/types.generated.ts';
import { GatewayError } from '../../plugin/index.ts';
import { readBase } from '../base-url.ts';
import { defineProvider, type OpenableEntry, type ProviderSetup } from '../definition.ts';
import { quote } from '../model-name.ts';
import type { Location, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { callerCredentials, serviceAccountCredentials, type Credentials } from './credentials.ts';
import { isProjectId, isRegion, vertexHost } from './hosts.ts';
import { VertexLocations } from './locations.ts';
import { readServiceAccount } from './service-account.ts';

class VertexEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider = 'vertex-ai';
  readonly semconvName = 'gcp.vertex_ai';
  readonly allowInsecure: boolean;
  readonly #locations: VertexLocations;
  readonly #credentials: Credentials;

  constructor(slug: string, allowInsecure: boolean, locations: VertexLocations, credentials: Credentials) {
    this.slug = slug;
    this.allowInsecure = allowInsecure;
    this.#locations = locations;
    this.#credentials = credentials;
  }

  locate(model: string, stream: boolean): Location {
    return this.#locations.locate(model, stream);
  }

  authorize(caller: UpstreamCaller): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#credentials.authorize(caller);
  }

  forgetCredentials(): boolean {
    return this.#credentials.forget?.() ?? false;
  }
}

export const vertexAi = defineProvider<VertexSettings>({
  name: 'vertex-ai',
  create(entry, setup) {
    const base = readBase(entry, `https://${vertexHost(entry.region)}`, setup.report);
    const identity = readIdentity(entry, setup);
    if (!base || !identity) return undefined;
    const locations = new VertexLocations(base, identity.projectId, entry.region);
    return new VertexEntry(entry.slug, entry.allow_insecure ?? false, locations, identity.credentials);
  },
});

/** Whose project, and how it is entered: with the service account, or with what each caller brings. */
function readIdentity(
  entry: VertexSettings,
  setup: ProviderSetup,
): { readonly projectId: string; readonly credentials: Credentials } | undefined {
  const { slug, service_account: settings, project_id: ownProject } = entry;
  if (!settings) {
    if (ownProject !== undefined) {
      return { projectId: ownProject, credentials: callerCredentials(`The catalog entry @${slug}`, slug) };
    }
    setup.report({ path: [], message: 'give a service_account, or a project_id for callers with tokens of their own' });
    return undefined;
  }
  const account = readServiceAccount(settings, setup.tokenUris, setup.report);
  if (!account) return undefined;
  const projectId = ownProject ?? account.projectId;
  if (projectId === undefined || !isProjectId(projectId)) {
    const what = projectId === undefined ? 'has no project_id' : 'has a project_id that cannot be used';
    setup.report({ path: ['service_account'], message: `the service account ${what}: set project_id` });
    return undefined;
  }
  return { projectId, credentials: serviceAccountCredentials(slug, account, setup) };
}

/**
 * Vertex AI without a catalog entry: project and region come with the request, and so does the token. The caller chooses
 * nothing else: the host is always Google's.
 */
export function createAdHocVertex({ projectId, region }: { projectId: string; region: string }): ProviderEntry {
  if (!isProjectId(projectId)) throw invalidHeader('project id', projectId);
  if (!isRegion(region)) throw invalidHeader('region', region);
  const locations = new VertexLocations({ origin: `https://${vertexHost(region)}`, prefix: '' }, projectId, region);
  return new VertexEntry(
    'vertex-ai',
    false,
    locations,
    callerCredentials('Vertex AI without a catalog entry', 'vertex-ai'),
  );
}

function invalidHeader(what: string, value: string): GatewayError {
  return new GatewayError(
    'invalid_header',
    `The Vertex ${what} header has a value that cannot be used: ${quote(value)}.`,
  );
}
