import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

const MODELS: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'gpt-5',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-pro-preview',
};
const messages = [{ role: 'user', content: 'hi' }];
const BODIES: Readonly<Partial<Record<FormatName, JsonObject>>> = {
  'openai-chat': { messages, max_tokens: 9 },
  'openai-responses': { input: 'hi', max_output_tokens: 9 },
  'anthropic-messages': { messages, max_tokens: 9 },
};

function translate(client: FormatName, upstream: FormatName, tools: readonly JsonObject[]) {
  return finish(
    translateRequest(
      { model: 'm', ...BODIES[client], tools },
      {
        client: formats[client],
        upstream: formats[upstream],
        target: requestTarget({ model: MODELS[upstream], strict: false }),
        reply: replyContext(),
      },
    ),
  );
}

function faultOf(work: () => unknown): RequestFault | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
}

const CLAUDES = [
  'bash_20250124',
  'text_editor_20250728',
  'memory_20250818',
  'computer_20251124',
  'browser_toolset_20260801',
];
const CLIENT_TOOLS = ['computer', 'computer_use_preview', 'computer_use_preview_2025_03_11'];
const f = { type: 'function', function: { name: 'f' } };

describe('a tool that only one API can express', () => {
  it.each<[FormatName, string, FormatName]>([
    ...CLAUDES.flatMap((type) =>
      (['openai-chat', 'openai-responses', 'gemini'] as const).map((upstream): [FormatName, string, FormatName] => [
        'anthropic-messages',
        type,
        upstream,
      ]),
    ),
    // Callers of Claude put its tools into OpenAI bodies.
    ...(['openai-responses', 'gemini'] as const).map((upstream): [FormatName, string, FormatName] => [
      'openai-chat',
      'bash_20250124',
      upstream,
    ]),
    ...CLIENT_TOOLS.flatMap((type) =>
      (['openai-chat', 'anthropic-messages', 'gemini'] as const).map((upstream): [FormatName, string, FormatName] => [
        'openai-responses',
        type,
        upstream,
      ]),
    ),
  ])('of %s, such as %s, is refused for %s', (client, type, upstream) => {
    const first = client === 'anthropic-messages' ? { name: 'f', input_schema: { type: 'object' } } : f;
    const fault = faultOf(() =>
      translate(client, upstream, [
        client === 'openai-responses' ? { ...f.function, type: 'function' } : first,
        { type, name: 'x' },
      ]),
    );
    expect(fault).toMatchObject({ code: 'unsupported_parameter', param: 'tools[1].type' });
    expect(fault?.message).toMatch(
      type.startsWith('computer') && client === 'openai-responses' ? 'computer use' : type,
    );
  });

  it('reaches the API that has it', () => {
    const { body, losses } = translate('openai-chat', 'anthropic-messages', [{ type: 'bash_20250124', name: 'bash' }]);
    expect(body.tools).toEqual([{ type: 'bash_20250124', name: 'bash' }]);
    expect(losses).toEqual([]);
  });
});
