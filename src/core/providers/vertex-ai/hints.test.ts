import { expect, test } from 'vitest';
import { explainPermission, explainPrefix } from './hints.ts';

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

const failure = (status: number) => ({ status, message: 'Publisher Model was not found' });

test.each([
  ['claude-sonnet-4-5@20250929', '`anthropic.claude-sonnet-4-5@20250929`'],
  ['llama-4-scout-17b-16e-instruct-maas', '`meta.llama-4-scout-17b-16e-instruct-maas`'],
  ['mistral-small-2503', '`mistralai.mistral-small-2503`'],
])('a 404 for %s names the right spelling', (model, words) => {
  expect(explainPrefix(failure(404), model).message).toMatch(/^Publisher Model was not found\. A name without/);
  expect(explainPrefix(failure(404), model).message).toContain(words);
});

test.each([
  [404, 'gemini-9'],
  [400, 'claude-x'],
  [503, 'claude-x'],
])('a %i for %s is not changed', (status, model) => {
  expect(explainPrefix(failure(status), model)).toEqual(failure(status));
});
