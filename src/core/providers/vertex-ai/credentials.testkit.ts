/** Credentials files in the form of Google's tools, with invented names and secrets. */

export const STS_URL = 'https://sts.googleapis.com/v1/token';
export const IMPERSONATION_URL =
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/models@my-project.iam.gserviceaccount.com:generateAccessToken';

type Changes = Readonly<Record<string, unknown>>;

const authorizedUser = {
  type: 'authorized_user',
  client_id: 'made-up.apps.googleusercontent.com',
  client_secret: 'made-up-client-secret',
  refresh_token: '1//made-up-refresh-token',
  quota_project_id: 'quota-project',
};

/** The file of `gcloud auth application-default login`. */
export function authorizedUserJson(changes: Changes = {}): string {
  return JSON.stringify({ ...authorizedUser, ...changes });
}

/** The file of `gcloud iam workload-identity-pools create-cred-config` for a token in a file. */
export function externalAccountJson(subjectFile: string, changes: Changes = {}): string {
  return JSON.stringify({
    type: 'external_account',
    universe_domain: 'googleapis.com',
    audience: '//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/providers/cluster',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: STS_URL,
    credential_source: { file: subjectFile, format: { type: 'text' } },
    ...changes,
  });
}

/** The file of `gcloud auth application-default login --impersonate-service-account`. */
export function impersonatedJson(changes: Changes = {}): string {
  return JSON.stringify({
    type: 'impersonated_service_account',
    delegates: [],
    service_account_impersonation_url: IMPERSONATION_URL,
    source_credentials: authorizedUser,
    ...changes,
  });
}
