import { expect, test } from 'vitest';
import { explainPermission } from './permission.ts';

const HINT = '`aiplatform.endpoints.predict`';

test.each([
  [
    "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/x' (or it may not exist).",
    'PERMISSION_DENIED',
  ],
  ['Permission denied', 'PERMISSION_DENIED'],
  ['<html>Forbidden</html>', undefined],
])('a 403 keeps Google’s message and names the required permission: %s', (message, kind) => {
  const reported = explainPermission({ status: 403, message, ...(kind !== undefined && { kind }) });
  expect(reported.message.startsWith(message)).toBe(true);
  expect(reported.message.slice(message.length)).toContain(HINT);
  expect(reported.message.slice(message.length)).toMatch(/^(?<!\.)\.? The account /);
  expect(reported).toMatchObject({ status: 403, ...(kind !== undefined && { kind }) });
});

test.each([
  { status: 404, kind: 'NOT_FOUND', message: 'Endpoint not found.' },
  { status: 401, kind: 'UNAUTHENTICATED', message: 'Request had invalid authentication credentials.' },
  { status: 403, kind: 'permission_error', message: 'Your organization may not use this model.' },
  {
    status: 403,
    kind: 'PERMISSION_DENIED',
    message: 'Vertex AI API has not been used in project 1 before or it is disabled.',
  },
  { status: 403, kind: 'PERMISSION_DENIED', code: 'SERVICE_DISABLED', message: 'Enable it.' },
  { status: 403, kind: 'PERMISSION_DENIED', message: 'This API method requires billing to be enabled.' },
  {
    status: 403,
    kind: 'PERMISSION_DENIED',
    message: 'Request is prohibited by organization’s policy. vpcServiceControlsUniqueIdentifier: VPC_SERVICE_CONTROLS',
  },
])('a failure for another reason is not changed: %j', (failure) => {
  expect(explainPermission(failure)).toBe(failure);
});
