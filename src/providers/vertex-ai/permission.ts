import type { UpstreamFailure } from '../../formats/events.ts';

const HINT =
  'The account of the Google token needs the permission `aiplatform.endpoints.predict` (included in roles/aiplatform.user).';

/** A 403 for another reason: a disabled API, missing billing, a network perimeter, an organization policy. */
const OTHER_REASON =
  /SERVICE_DISABLED|has not been used in project|API .*is disabled|billing|VPC_SERVICE_CONTROLS|service control|organization policy|orgpolicy/i;

/** Adds the remedy to Google's 403, which names the denied permission only. Refusals by Claude have another `kind` and are unchanged. */
export function explainPermission(failure: UpstreamFailure): UpstreamFailure {
  const { status, kind, message, code = '' } = failure;
  if (status !== 403 || (kind !== undefined && kind !== 'PERMISSION_DENIED')) return failure;
  if (OTHER_REASON.test(message) || OTHER_REASON.test(code)) return failure;
  return { ...failure, message: `${message.trimEnd()}${/[.!?]$/.test(message.trimEnd()) ? '' : '.'} ${HINT}` };
}
