import { expect, it } from 'vitest';
import { AGENTS } from './agents.ts';
import { otherApi } from './apis.ts';

const PATHS = {
  'POST /v1/chat/completions': '/v1/chat/completions',
  'POST /v1/responses': '/v1/responses',
  'POST /v1/messages': '/v1/messages',
  'POST /v1beta/models/{model}:streamGenerateContent': '/v1/models/@own/m:streamGenerateContent',
};

it.each(AGENTS)('$name speaks the API of its page and no other', ({ api }) => {
  for (const [named, path] of Object.entries(PATHS))
    expect(otherApi([PATHS[api], path], api)).toBe(named === api ? undefined : `a request to ${path}, not to ${api}`);
});
