import type { Json } from '../outbound.ts';
import { ALL, answer, assistant, document, file, found, GEMINIS, picture, plain, tool, url, use } from './anthropic.ts';
import { hi, text, user, type Cases } from './case.ts';

const oslo = use('toolu_1', 'weather', { city: 'Oslo' });
const rome = use('toolu_2', 'weather', { city: 'Rome' });
const time = use('toolu_3', 'clock', { city: 'Oslo' });
const tools = [tool('weather'), tool('clock')];

/** A question, calls, and what came back. */
const round = (calls: readonly unknown[], ...results: readonly Json[]) => ({
  tools,
  messages: [hi, { role: 'assistant', content: calls }, user(...results)],
});

/** Calls and their results (docs/protocols/anthropic-messages.md#order-of-results, docs/protocols/messages-route.md#results). */
export const anthropicRounds: Cases = {
  'one-call': { title: 'a call and its result', request: round([oslo], answer('toolu_1', 'rain')), ...ALL },
  'call-with-text': {
    title: 'words before a call',
    request: round([text('Let me look.'), oslo], answer('toolu_1', 'rain')),
    ...ALL,
  },
  'text-behind-call': {
    title: 'words behind a call',
    request: round([oslo, text('One moment.')], answer('toolu_1', 'rain')),
  },
  'call-without-input': {
    title: 'a call without arguments',
    request: round([use('toolu_1', 'clock', {})], answer('toolu_1', '12:00')),
  },
  'call-by-code': {
    title: 'a call that code of the model made',
    request: round(
      [
        use(
          'toolu_1',
          'weather',
          { city: 'Oslo' },
          { caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } },
        ),
      ],
      answer('toolu_1', 'rain'),
    ),
  },
  'parallel-calls': {
    title: 'two calls at once, their results in one turn',
    request: round([oslo, rome], answer('toolu_1', 'rain'), answer('toolu_2', 'sun')),
    ...ALL,
  },
  'results-scrambled': {
    title: 'results in another order than the calls',
    request: round([oslo, time], answer('toolu_3', '12:00'), answer('toolu_1', 'rain')),
  },
  'two-rounds': {
    title: 'two rounds of calls',
    request: {
      tools,
      messages: [
        hi,
        assistant(oslo),
        user(answer('toolu_1', 'rain')),
        assistant(time),
        user(answer('toolu_3', '12:00')),
      ],
    },
    ...ALL,
  },
  'result-and-question': {
    title: 'a result, and a question behind it',
    request: round([oslo], answer('toolu_1', 'rain'), text('And tomorrow?')),
    ...ALL,
  },
  'question-before-result': {
    title: 'a remark that stands before the result',
    request: round([oslo], text('Here:'), answer('toolu_1', 'rain')),
  },
  'result-error': {
    title: 'a call that failed',
    request: round([oslo], answer('toolu_1', 'no such city', { is_error: true })),
    ...ALL,
  },
  'result-error-empty': {
    title: 'a call that failed without a word',
    request: round([oslo], answer('toolu_1', undefined, { is_error: true })),
  },
  'result-no-error': {
    title: 'a call with `is_error: false`',
    request: round([oslo], answer('toolu_1', 'rain', { is_error: false })),
  },
  'result-empty': { title: 'a result of nothing', request: round([oslo], answer('toolu_1', undefined)) },
  'result-object': {
    title: 'a result that is a JSON object',
    request: round([oslo], answer('toolu_1', '{"sky":"rain","degrees":4}')),
  },
  'result-blocks': {
    title: 'a result of several blocks is one result',
    request: round([oslo], answer('toolu_1', [text('rain'), text('4 degrees')])),
    ...ALL,
  },
  'result-picture': {
    title: 'a picture in a result',
    request: round([oslo], answer('toolu_1', [text('the sky'), picture()])),
    ...ALL,
  },
  'result-picture-only': {
    title: 'a result that is a picture only',
    request: round([oslo], answer('toolu_1', [picture()])),
    ...ALL,
  },
  'result-picture-url': {
    title: 'a picture by its address in a result',
    request: round([oslo], answer('toolu_1', [picture(url('https://files.example/sky.png'))])),
    ...GEMINIS,
  },
  'result-pictures-parallel': {
    title: 'pictures in two results and words behind them: nothing comes between the results',
    request: round(
      [oslo, rome],
      answer('toolu_1', [picture()]),
      answer('toolu_2', [text('Rome'), picture()]),
      text('Compare.'),
    ),
    ...ALL,
  },
  'result-document': {
    title: 'a PDF in a result',
    request: round([oslo], answer('toolu_1', [document(undefined, { title: 'Report' })])),
    ...ALL,
  },
  'result-text-document': {
    title: 'a text document in a result',
    request: round([oslo], answer('toolu_1', [document(plain('Rain all day.'))])),
    ...GEMINIS,
  },
  'result-file': {
    title: 'a file of Anthropic’s in a result',
    request: round([oslo], answer('toolu_1', [picture(file('file_1'))])),
  },
  'result-search': {
    title: 'search results in a result',
    request: round([oslo], answer('toolu_1', [found()])),
    ...GEMINIS,
  },
  'result-tool-reference': {
    title: 'a tool named in a result',
    request: round([oslo], answer('toolu_1', [{ type: 'tool_reference', tool_name: 'clock' }])),
  },
  'result-of-nothing': {
    title: 'a result without a call',
    request: { tools, messages: [user(answer('toolu_9', 'rain'))] },
  },
  'signature-in-id': {
    title: 'a call whose id has carried Gemini’s signature',
    request: round(
      [use('toolu_1__thought__c2lnbmF0dXJl', 'weather', { city: 'Oslo' })],
      answer('toolu_1__thought__c2lnbmF0dXJl', 'rain'),
    ),
    ...ALL,
    claude: ['claude-sonnet-4-5'],
  },
};
