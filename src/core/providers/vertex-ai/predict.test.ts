import { describe, expect, test } from 'vitest';
import { ReplyFault } from '../../../formats/faults.ts';
import { predictEnvelope } from './endpoint-settings.ts';

const messages = [{ role: 'user', content: 'Grüße 🌍' }];
const wrap = (body: object, { stream = false, keepModel = false } = {}) => {
  const { body: bytes, losses } = predictEnvelope(keepModel).wrap(Buffer.from(JSON.stringify(body)), stream);
  return { body: JSON.parse(bytes.toString()) as unknown, losses };
};
const unwrap = (text: string) => predictEnvelope(false).unwrap(Buffer.from(text)).toString();
const completion = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'é' } }] };

describe('the envelope of a predict call', () => {
  test('has the complete chat body as its one instance', () => {
    expect(wrap({ model: '42', messages, temperature: 0.5, guided_choice: ['a'], seed: 7 })).toEqual({
      body: {
        instances: [{ '@requestFormat': 'chatCompletions', messages, temperature: 0.5, guided_choice: ['a'], seed: 7 }],
        parameters: {},
      },
      losses: [],
    });
  });

  test('keeps a model that the settings name', () => {
    const instance = { '@requestFormat': 'chatCompletions', model: 'llama', messages };
    expect(wrap({ model: 'llama', messages }, { keepModel: true }).body).toEqual({
      instances: [instance],
      parameters: {},
    });
  });

  test('removes the request for a stream, and reports the loss', () => {
    const asked = { model: '42', messages, stream: true, stream_options: { include_usage: true } };
    expect(wrap(asked, { stream: true })).toEqual({
      body: { instances: [{ '@requestFormat': 'chatCompletions', messages }], parameters: {} },
      losses: [{ param: 'stream', action: 'downgraded', reason: expect.any(String) }],
    });
  });

  test.each([
    ['the object itself', JSON.stringify({ predictions: completion, deployedModelId: '1' })],
    ['a list of one', JSON.stringify({ predictions: [completion] })],
  ])('is removed from a reply whose prediction is %s', (_, text) => {
    expect(JSON.parse(unwrap(text))).toEqual(completion);
  });

  test('keeps an error inside, which the format decodes', () => {
    expect(JSON.parse(unwrap('{"predictions":[{"error":{"message":"out of memory"}}]}'))).toEqual({
      error: { message: 'out of memory' },
    });
  });

  test.each([
    '',
    '{"predictions":',
    'null',
    '[]',
    '7',
    '{}',
    '{"predictions":[]}',
    '{"predictions":null}',
    '{"predictions":["Prompt:\\nhi\\nOutput:\\nhello"]}',
    '{"predictions":[[1,2]]}',
  ])('is a fault without a chat completion: %s', (text) => {
    expect(() => unwrap(text)).toThrow(ReplyFault);
  });
});
