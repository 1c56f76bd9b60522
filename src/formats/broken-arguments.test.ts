import { describe, expect, it } from 'vitest';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

/** A turn of the Responses API, the only one beside chat whose arguments may be any text. */
const sent = (args: string, extensions: ReadonlySet<string> | undefined) => {
  const input = [
    { role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: args },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ];
  const { body, losses } = finish(
    translateRequest(
      { model: 'm', input },
      {
        client: formats['openai-responses'],
        upstream: formats['openai-chat'],
        target: requestTarget({ extensions }),
        reply: replyContext(),
      },
    ),
  );
  const { messages } = body as { messages: { tool_calls?: { function: { arguments: string } }[] }[] };
  return {
    args: messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.arguments)),
    lost: losses.map(({ action, param }) => `${action} ${param}`),
  };
};

describe('arguments of the history that are no JSON object', () => {
  it.each([
    ['{"a":', { value: '{"a":' }],
    ['15 * 4', { value: '15 * 4' }],
    ['[1]', { value: [1] }],
    ['"x"', { value: 'x' }],
    ['['.repeat(5000), { value: '['.repeat(5000) }],
  ])('are wrapped for a server that parses them, and reported: %j', (args, wrapped) => {
    const { args: written, lost } = sent(args, undefined);
    expect(written.map((text) => JSON.parse(text) as unknown)).toEqual([wrapped]);
    expect(lost).toEqual(['downgraded input[1].arguments']);
  });

  it.each(['{"a":', '15 * 4', '[1]'])('go to OpenAI as written: %j', (args) => {
    expect(sent(args, new Set())).toEqual({ args: [args], lost: [] });
  });

  it.each(['{"a":1}', ' {} ', '{"a":1e999}'])('do not include %j', (args) => {
    expect(sent(args, undefined)).toEqual({ args: [args], lost: [] });
  });
});
