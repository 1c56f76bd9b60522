import { impersonate, impersonationKey, readImpersonation } from './impersonation.ts';
import {
  isUnusable,
  keyOf,
  textOf,
  type CredentialFields,
  type ReadTokenSource,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';
import { isObject } from '../../formats/json/object.ts';

/**
 * `impersonated_service_account`, the file of `gcloud auth application-default login --impersonate-service-account`. The source
 * credentials act as the service account.
 */
export function impersonatedAccountSource(
  fields: CredentialFields,
  context: SourceContext,
  readSource: ReadTokenSource,
): TokenSource | undefined {
  const { setup, refuse } = context;
  if (isUnusable(fields, refuse)) return undefined;
  const inner = fields['source_credentials'];
  if (!isObject(inner)) return refuse('source_credentials', 'source_credentials is missing');
  if (inner['type'] === 'impersonated_service_account') {
    return refuse('source_credentials', 'source_credentials is itself an impersonation: use delegates for a chain');
  }
  const { service_account_impersonation_url: url, delegates } = fields;
  const impersonation = readImpersonation({ url, delegates }, context);
  const source = readSource(inner, {
    setup,
    refuse: (_, message) => refuse('source_credentials', `source_credentials: ${message}`),
  });
  if (!impersonation || !source) return undefined;
  return {
    key: keyOf('impersonated_service_account', source.key, impersonationKey(impersonation)),
    // The source's projects may differ from the project of the models.
    projectId: undefined,
    quotaProjectId: textOf(fields['quota_project_id']),
    // The source's token is used for this call only, so it is not cached.
    mint: async () => impersonate(impersonation, (await source.mint()).value, setup),
    ...(source.check && { check: () => source.check!() }),
  };
}
