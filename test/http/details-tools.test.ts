import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../support/upstream.ts';
import { CLAUDE, FLASH, fn, geminiParts, GEMINI_3, LAX, startHouse, user, type House } from './details.testkit.ts';

/** The tools that Google runs itself, as OpenAI clients ask for them (docs/protocols/requests.md#built-in-tools-by-name). */

let house: House;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.close());

const sent = (name: string) => house.seen().json[name];
const weather = fn('weather', { type: 'object', properties: { city: { type: 'string' } } });

describe('search grounding', () => {
  it.each([
    ['web_search', { googleSearch: {} }],
    ['web_search_retrieval', { googleSearchRetrieval: {} }],
  ])('%s is asked for alone', async (name, tool) => {
    expect((await house.chat({ model: FLASH, tools: [fn(name)] })).status).toBe(200);
    expect(sent('tools')).toEqual([tool]);
    expect(house.seen().json).not.toHaveProperty('toolConfig');
  });

  it('tells its sources as citations, and to clients that are not strict as they came', async () => {
    const groundingMetadata = {
      webSearchQueries: ['oslo'],
      groundingChunks: [{ web: { uri: 'https://h/a', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 3, text: 'Sun' }, groundingChunkIndices: [0] }],
    };
    const reply = geminiParts({ text: 'Sun in Oslo.' });
    Object.assign((reply['candidates'] as object[])[0]!, { groundingMetadata });
    house.answers(reply);
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://h/a', title: 'A', start_index: 0, end_index: 3 } },
    ];
    const strict = await house.chat({ model: FLASH, tools: [fn('web_search')] });
    expect(strict.message).toMatchObject({ content: 'Sun in Oslo.', annotations });
    expect(strict.choice).not.toHaveProperty('groundingMetadata');
    const lax = await house.chat({ model: FLASH, tools: [fn('web_search')] }, LAX);
    expect(lax.choice).toMatchObject({ message: { annotations }, groundingMetadata });
  });

  it('beside functions goes on, and what Google says to it comes back', async () => {
    const message = 'Multiple tools are supported only when they are all search tools.';
    house.plays((_, res) => json(res, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, 400));
    const answer = await house.chat({ model: FLASH, tools: [fn('web_search'), weather] });
    expect(sent('tools')).toMatchObject([{ googleSearch: {} }, { functionDeclarations: [{ name: 'weather' }] }]);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { message, type: 'invalid_request_error' } });
  });

  it('beside functions is Google’s to allow: newer models do', async () => {
    house.answers(geminiParts({ functionCall: { name: 'weather', args: { city: 'Oslo' } } }));
    const { message } = await house.chat({ model: GEMINI_3, tools: [weather, fn('web_search')] });
    expect(message).toMatchObject({ tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] });
  });

  it('is an ordinary function to Claude', async () => {
    await house.chat({ model: CLAUDE, tools: [fn('web_search', { type: 'object', properties: {} })] });
    expect(sent('tools')).toMatchObject([{ name: 'web_search', input_schema: { type: 'object' } }]);
  });
});

const COMPUTER = '@gemini/gemini-2.5-computer-use-preview-10-2025';
const browser = { environment: 'ENVIRONMENT_BROWSER' };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

describe('computer use', () => {
  it.each(['computer_use', 'computerUse'])('%s opens the browser', async (name) => {
    house.answers(geminiParts({ functionCall: { name: 'open_web_browser', args: {} }, thoughtSignature: 'c2ln' }));
    const { message, headers } = await house.chat({ model: COMPUTER, tools: [fn(name, browser)] }, LAX);
    expect(sent('tools')).toEqual([{ computerUse: browser }]);
    expect(message['tool_calls']).toMatchObject([
      { function: { name: 'open_web_browser', arguments: '{}', thought_signature: 'c2ln' } },
    ]);
    expect([...headers.keys()].filter((header) => header.includes('dropped'))).toEqual([]);
  });

  it('goes on with a user message as the result of its actions, over several turns', async () => {
    const tools = [fn('computer_use', browser)];
    const messages: object[] = [user('Find the price.')];
    const steps = [
      [{ functionCall: { name: 'open_web_browser', args: {} }, thoughtSignature: 'c2ln' }],
      [
        { functionCall: { name: 'click_at', args: { x: 1, y: 2 } } },
        { functionCall: { name: 'wait_5_seconds', args: {} } },
      ],
      [{ text: 'It is 3 euros.' }],
    ];
    const replies = [
      user('The browser is open.'),
      user([
        { type: 'text', text: '{"url":"https://shop.example"}' },
        { type: 'image_url', image_url: { url: PNG } },
      ]),
    ];
    for (const [at, parts] of steps.entries()) {
      house.answers(geminiParts(...parts));
      const { message } = await house.chat({ model: COMPUTER, tools, messages }, LAX);
      messages.push(message);
      if (replies[at]) messages.push(replies[at]);
    }
    const url = { url: 'https://shop.example' };
    const screen = [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }];
    expect(sent('contents')).toEqual([
      { role: 'user', parts: [{ text: 'Find the price.' }] },
      { role: 'model', parts: steps[0] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'open_web_browser', response: { output: 'The browser is open.' } } }],
      },
      { role: 'model', parts: steps[1] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'click_at', response: url } },
          { functionResponse: { name: 'wait_5_seconds', response: url, parts: screen } },
        ],
      },
    ]);
    expect(messages.at(-1)).toMatchObject({ content: 'It is 3 euros.' });
  });

  const refusal = { error: { code: 400, message: 'Computer Use is not enabled.', status: 'INVALID_ARGUMENT' } };
  it.each<[string, string, Record<string, string>, string]>([
    ['its model', FLASH, LAX, 'a model made for it (a computer-use preview), not gemini-2.5-flash.'],
    ['the flag', COMPUTER, {}, 'the header x-gateway-strict-open-ai-compliance: false.'],
    [
      'both',
      FLASH,
      {},
      'a model made for it (a computer-use preview), not gemini-2.5-flash, and the header x-gateway-strict-open-ai-compliance: false.',
    ],
  ])('without %s is explained where it is refused', async (_, model, headers, needs) => {
    house.plays((_, res) => json(res, refusal, 400));
    const answer = await house.chat({ model, tools: [fn('computer_use', browser)] }, headers);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { message: `Computer Use is not enabled. (Hint: The tool computer_use needs ${needs})` },
    });
  });

  it('refused with all it needs gives only the upstream’s message', async () => {
    house.plays((_, res) => json(res, refusal, 400));
    const { body } = await house.chat({ model: COMPUTER, tools: [fn('computer_use', browser)] }, LAX);
    expect(body).toMatchObject({ error: { message: 'Computer Use is not enabled.' } });
  });

  it('from a strict client is reported as a loss, and refused under strict params with a hint to the flag', async () => {
    house.answers(geminiParts({ functionCall: { name: 'open_web_browser', args: {} } }));
    const body = { model: COMPUTER, tools: [fn('computer_use', browser)] };
    expect((await house.chat(body)).headers.get('x-gateway-dropped-params') ?? '').toContain('thought_signature');
    const refused = await house.chat(body, { 'x-gateway-strict-params': 'true' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('x-gateway-strict-open-ai-compliance: false');
  });
});
