import type { VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { ProviderSetup } from '../definition.ts';
import { findApplicationDefault, metadataServerSource } from './application-default.ts';
import { readCredentialsJson, serviceAccountSource } from './credentials-json.ts';
import { callerCredentials, foundCredentials, tokenCredentials, tokenError, type Credentials } from './credentials.ts';
import { parseObject } from './google-oauth.ts';
import { isProjectId } from './hosts.ts';
import type { CredentialFields, Refuse, SourceContext, TokenSource } from './token-source.ts';

export interface Identity {
  readonly projectId: string;
  readonly credentials: Credentials;
  /** Awaited before the first request. Throws UpstreamError `credentials_failed`. */
  open?(): Promise<void>;
}

interface IdentityInput {
  readonly entry: VertexSettings;
  readonly setup: ProviderSetup;
}

type SourceKey = 'service_account' | 'credentials_json' | 'credentials';

const sourcesOf = ({ service_account: account, credentials_json: json, credentials }: VertexSettings): unknown[] =>
  [account, json, credentials].filter((value) => value !== undefined);

/** True for an entry with a project only: callers send the token. An API key (express mode) needs no token. */
export const needsCallerToken = (entry: VertexSettings): boolean =>
  entry.api_key === undefined && sourcesOf(entry).length === 0;

/** The identity of an entry, from the one source that it names or from each caller. Undefined when a problem was reported. */
export function readIdentity(entry: VertexSettings, setup: ProviderSetup): Identity | undefined {
  const { slug, project_id: projectId, service_account: account, credentials_json: json, credentials } = entry;
  // The schema checks this for files; an entry can also be created in code.
  if (sourcesOf(entry).length > 1)
    return refuseEntry(setup, 'give one of service_account, credentials_json and credentials');
  if (account) return fromSource('service_account', readServiceAccount(account, setup), { entry, setup });
  if (json) {
    const context = { setup, refuse: refuseAt('credentials_json', setup, false) };
    return fromSource('credentials_json', readCredentialsJson(json.reveal(), context), { entry, setup });
  }
  if (projectId === undefined) {
    if (credentials) return refuseEntry(setup, 'set project_id: the credentials name no project');
    return refuseEntry(
      setup,
      'give a service_account, credentials_json or credentials, or a project_id for callers with tokens of their own',
    );
  }
  if (credentials === 'metadata-server') {
    const context = { setup, refuse: refuseAt('credentials', setup, false) };
    return fromSource('credentials', metadataServerSource(setup.env, context), { entry, setup });
  }
  if (credentials === 'application-default') {
    const found = foundCredentials(slug, () => findApplicationDefault(setup), setup);
    return { projectId, credentials: found, open: () => openOrReport('credentials', found, { entry, setup }) };
  }
  return { projectId, credentials: callerCredentials(`The catalog entry @${slug}`, slug) };
}

function refuseEntry({ report }: ProviderSetup, message: string): undefined {
  report({ path: [], message });
  return undefined;
}

function fromSource(
  key: SourceKey,
  source: TokenSource | undefined,
  { entry, setup }: IdentityInput,
): Identity | undefined {
  if (!source) return undefined;
  const refuse = refuseAt(key, setup, false);
  const projectId = entry.project_id ?? source.projectId;
  const subject = key === 'service_account' ? 'the service account' : 'the credential';
  if (projectId === undefined) return refuse(undefined, `${subject} has no project_id: set project_id`);
  if (!isProjectId(projectId)) {
    return refuse(undefined, `${subject} has an invalid project_id: set project_id`);
  }
  const credentials = tokenCredentials(entry.slug, source, setup);
  return { projectId, credentials, open: () => openOrReport(key, credentials, { entry, setup }) };
}

/** Reports a failure of `open` at its path in the file and throws it, so that the entry is not used. */
async function openOrReport(key: SourceKey, credentials: Credentials, { entry, setup }: IdentityInput): Promise<void> {
  try {
    await credentials.open?.();
  } catch (error) {
    const failure = tokenError(entry.slug, error);
    setup.report({ path: [key], message: failure.message });
    throw failure;
  }
}

/** @param inside true for a value that is an object in the YAML, so that problems are reported at its fields */
function refuseAt(key: SourceKey, { report }: ProviderSetup, inside: boolean): Refuse {
  return (field, message) => {
    report({ path: inside && field !== undefined ? [key, field] : [key], message: `${key}: ${message}` });
    return undefined;
  };
}

/** Messages never quote the key, nor the error of JSON.parse, which contains a part of it. */
function readServiceAccount(
  settings: NonNullable<VertexSettings['service_account']>,
  setup: ProviderSetup,
): TokenSource | undefined {
  const isText = settings instanceof Secret;
  const context: SourceContext = { setup, refuse: refuseAt('service_account', setup, !isText) };
  const fields: CredentialFields | undefined = isText
    ? parseObject(settings.reveal())
    : { ...settings, private_key: settings.private_key.reveal() };
  if (!fields) {
    return context.refuse(
      undefined,
      'is not the JSON of a service-account key (the file that you download from Google)',
    );
  }
  const { type = 'service_account' } = fields;
  if (type === 'service_account') return serviceAccountSource(fields, context);
  return context.refuse('type', 'the key is of another type: give it as credentials_json');
}
