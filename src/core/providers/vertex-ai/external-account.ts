import { isAbsolute } from 'node:path';
import {
  stsEndpoint,
  callForJson,
  formRequest,
  readAccessToken,
  readMintedToken,
  SCOPE,
  parseObject,
  TokenFault,
} from './google-oauth.ts';
import { impersonate, impersonationKey, readImpersonation, type Impersonation } from './impersonation.ts';
import {
  isUnusable,
  keyOf,
  NOT_LISTED,
  textOf,
  type CredentialFields,
  type SourceContext,
  type TokenSource,
  type Refuse,
  readTextFile,
} from './token-source.ts';
import { isObject } from '../../../formats/json/object.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const WHO = 'the security token service';

/** Fields that change the requested token: ignoring them would request a different one. */
const UNSUPPORTED = ['client_id', 'client_secret', 'workforce_pool_user_project'];

/** A token of another issuer for one of Google's (docs/protocols/vertex-ai.md#workload-identity-federation). */
export function externalAccountSource(fields: CredentialFields, context: SourceContext): TokenSource | undefined {
  const { setup, refuse } = context;
  if (isUnusable(fields, refuse)) return undefined;
  const unsupported = UNSUPPORTED.find((name) => fields[name] !== undefined);
  if (unsupported !== undefined) return refuse(unsupported, `${unsupported} is not supported`);
  const audience = textOf(fields['audience']);
  if (audience === undefined) return refuse('audience', 'audience is missing');
  const subjectTokenType = textOf(fields['subject_token_type']);
  if (subjectTokenType === undefined) return refuse('subject_token_type', 'subject_token_type is missing');
  const endpoint = stsEndpoint(fields['token_url'], setup.tokenUris);
  if (!endpoint) return refuse('token_url', `token_url ${NOT_LISTED}`);
  const readSubject = subjectTokenFile(fields['credential_source'], refuse);
  const account = readAccount(fields, context);
  if (!readSubject || !account) return undefined;
  const { impersonation } = account;

  /** Sends the subject token to the endpoint only. */
  const federate = async () => {
    const subjectToken = await readSubject();
    const request = formRequest(endpoint, {
      grant_type: GRANT_TYPE,
      audience,
      scope: SCOPE,
      requested_token_type: ACCESS_TOKEN,
      subject_token: subjectToken,
      subject_token_type: subjectTokenType,
    });
    return callForJson({ who: WHO, request, secrets: [subjectToken] }, setup);
  };
  return {
    key: keyOf(
      'external_account',
      audience,
      subjectTokenType,
      endpoint.url,
      JSON.stringify(fields['credential_source']),
      impersonation ? impersonationKey(impersonation) : '',
    ),
    // The audience names the project of the pool, which may differ from the project of the models.
    projectId: undefined,
    quotaProjectId: textOf(fields['quota_project_id']),
    async mint() {
      const json = await federate();
      if (!impersonation) return readMintedToken(json, WHO);
      return impersonate(impersonation, readAccessToken(json, WHO), setup);
    },
    async check() {
      await readSubject();
    },
  };
}

/** The service account to impersonate, if any; undefined when it was refused. */
function readAccount(
  fields: CredentialFields,
  context: SourceContext,
): { impersonation: Impersonation | undefined } | undefined {
  const { service_account_impersonation_url: url, service_account_impersonation: options = {} } = fields;
  if (url === undefined) return { impersonation: undefined };
  if (!isObject(options)) {
    return context.refuse('service_account_impersonation', 'service_account_impersonation is not an object');
  }
  const { token_lifetime_seconds: lifetimeSeconds } = options;
  const impersonation = readImpersonation({ url, lifetimeSeconds }, context);
  return impersonation && { impersonation };
}

/** The token of a workload from another issuer. Read each time: Kubernetes replaces its file. Throws TokenFault. */
type ReadSubject = () => Promise<string>;

/** Sources of a subject token that Google's files may name and the gateway does not support, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  url: 'with a url, a credentials file could make the gateway call any address',
  executable: 'with an executable, a credentials file could make the gateway run any program',
  environment_id: 'AWS credentials are not supported',
  certificate: 'certificates (X.509 federation) are not supported',
};

function subjectTokenFile(source: unknown, refuse: Refuse): ReadSubject | undefined {
  if (!isObject(source)) return refuse('credential_source', 'credential_source is missing');
  const other = Object.keys(REFUSED).find((key) => source[key] !== undefined);
  if (other !== undefined) {
    return refuse('credential_source', `credential_source.${other}: ${REFUSED[other]}; only \`file\` is supported`);
  }
  const path = textOf(source['file']);
  if (path === undefined) return refuse('credential_source', 'credential_source.file is missing');
  // A relative path would depend on the folder in which the gateway was started.
  if (!isAbsolute(path)) return refuse('credential_source', 'credential_source.file is not an absolute path');
  const field = readFormat(source['format'], refuse);
  return field && (async () => tokenIn(await readFile(path), path, field.name));
}

/** The field with the token in a JSON file; without a name, the whole file is the token. */
function readFormat(format: unknown, refuse: Refuse): { readonly name?: string } | undefined {
  const { type, subject_token_field_name: name }: CredentialFields =
    format === undefined ? { type: 'text' } : Object(format);
  if (type === 'text') return {};
  if (type !== 'json') {
    return refuse('credential_source', 'credential_source.format.type is neither "text" nor "json"');
  }
  const field = textOf(name);
  if (field !== undefined) return { name: field };
  return refuse('credential_source', 'credential_source.format.subject_token_field_name is missing');
}

async function readFile(path: string): Promise<string> {
  const file = await readTextFile(path);
  if ('text' in file) return file.text;
  throw new TokenFault(
    'missing' in file ? `there is no subject token file ${path}` : `the subject token file ${path} ${file.problem}`,
  );
}

function tokenIn(content: string, path: string, field: string | undefined): string {
  const json = field === undefined ? undefined : parseObject(content);
  if (field !== undefined && !json) throw new TokenFault(`the subject token file ${path} is not a JSON object`);
  const token = textOf(field === undefined ? content.trim() : json?.[field]);
  // Every kind of token is one printable word (JWT, base64url of a SAML assertion); other text means a wrong file.
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  if (token !== undefined) throw new TokenFault(`the subject token file ${path} does not contain a token`);
  const problem = field === undefined ? 'is empty' : `has no text in ${JSON.stringify(field)}`;
  throw new TokenFault(`the subject token file ${path} ${problem}`);
}
