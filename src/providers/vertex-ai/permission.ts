import type { UpstreamFailure } from '../../formats/events.ts';

const HINT =
  'Whoever the Google token stands for needs the permission `aiplatform.endpoints.predict` (roles/aiplatform.user has it).';

/** A 403 that is about something else: an API or a bill that is not there, a network perimeter, a rule of an organization. */
const OTHER_REASON =
  /SERVICE_DISABLED|has not been used in project|API .*is disabled|billing|VPC_SERVICE_CONTROLS|service control|organization policy|orgpolicy/i;

/** Google names the denied permission, but not always the remedy. Claude's own refusals have another word. */
export function explainPermission(failure: UpstreamFailure): UpstreamFailure {
  const { status, kind, message, code = '' } = failure;
  if (status !== 403 || (kind !== undefined && kind !== 'PERMISSION_DENIED')) return failure;
  if (OTHER_REASON.test(message) || OTHER_REASON.test(code)) return failure;
  return { ...failure, message: `${message.trimEnd()}${/[.!?]$/.test(message.trimEnd()) ? '' : '.'} ${HINT}` };
}
