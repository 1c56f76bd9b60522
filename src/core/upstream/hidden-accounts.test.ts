import { describe, expect, it } from 'vitest';
import { withoutAccount } from './shown-message.ts';

const PATH = '/v1/projects/my-prod/locations/us-east5/publishers/anthropic/models/m:rawPredict';

describe('the account in a message of an upstream', () => {
  it.each([
    [
      'Publisher Model `projects/my-prod/locations/us-east5/publishers/anthropic/models/m` was not found or your project my-prod has no access.',
      'Publisher Model `projects/[project]/locations/us-east5/publishers/anthropic/models/m` was not found or your project [project] has no access.',
    ],
    [
      'Quota exceeded, project_number:123456789012, for projects/123456789012.',
      'Quota exceeded, project_number:[project], for projects/[project].',
    ],
    [
      'See https://console.cloud.google.com/quotas?a=1&project=my-proj-1#x',
      'See https://console.cloud.google.com/quotas?a=1&project=[project]#x',
    ],
    ['It has not been used in project 123456789012 before.', 'It has not been used in project [project] before.'],
    ['Project `proj_AbC123xyz` does not have access.', 'Project `[project]` does not have access.'],
    [
      'Rate limit reached in organization org-AbCdEf12345 on tokens per min. Please try again in 1.5s.',
      'Rate limit reached in organization [organization] on tokens per min. Please try again in 1.5s.',
    ],
  ])('is hidden: %s', (message, expected) => {
    expect(withoutAccount(message, PATH)).toBe(expected);
  });

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'my-prod-2 and src/projects/app/main.ts',
    'org-chart',
  ])('is not seen in %s', (message) => expect(withoutAccount(message, PATH)).toBe(message));
});
