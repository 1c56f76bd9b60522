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
 * `impersonated_service_account`: what `gcloud auth application-default login --impersonate-service-account` leaves. Whoever
 * has the source credentials acts as the service account.
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
    // Neither project of the source need be the one with the models.
    projectId: undefined,
    quotaProjectId: textOf(fields['quota_project_id']),
    // The source's token serves this one call: kept, it could only grow old.
    mint: async () => impersonate(impersonation, (await source.mint()).value, setup),
    ...(source.check && { check: () => source.check!() }),
  };
}
