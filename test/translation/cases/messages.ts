import { call, calls, type Cases, hi, image, png, result, text, user, weather, clock } from './case.ts';

const GENERATIONS = { gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'] } as const;

/** Messages (docs/protocols/requests.md#messages-for-gemini, docs/protocols/requests.md#messages-for-claude). */
export const messages: Cases = {
  'bare-question': { title: 'a bare question', request: {} },
  'system-first': {
    title: 'a system message before the question',
    request: { messages: [{ role: 'system', content: 'Be brief.' }, hi] },
  },
  'developer-first': {
    title: 'a developer message is a system message',
    request: { messages: [{ role: 'developer', content: 'Be brief.' }, hi] },
  },
  'system-parts': {
    title: 'a system message of several parts keeps all of them',
    request: { messages: [{ role: 'system', content: [text('One.'), text('Two.')] }, hi] },
  },
  'two-systems': {
    title: 'two system messages in a row are both kept',
    request: { messages: [{ role: 'system', content: 'One.' }, { role: 'developer', content: 'Two.' }, hi] },
  },
  'system-later': {
    title: 'a system message in the middle of a conversation',
    request: {
      messages: [hi, { role: 'assistant', content: 'Hello.' }, { role: 'system', content: 'Be brief.' }, hi],
    },
  },
  'system-before-and-later': {
    title: 'a system message at the start and another one later',
    request: {
      messages: [
        { role: 'system', content: 'One.' },
        hi,
        { role: 'assistant', content: 'Hello.' },
        { role: 'system', content: 'Two.' },
        hi,
      ],
    },
  },
  'system-only': { title: 'nothing but a system message', request: { messages: [{ role: 'system', content: 'Go.' }] } },
  'system-for-gemma': {
    title: 'a system message for a model without a system field',
    request: { messages: [{ role: 'system', content: 'Be brief.' }, hi] },
    gemini: ['gemma-3-27b-it'],
  },
  'text-parts': {
    title: 'a user message of several texts',
    request: { messages: [user(text('One.'), text('Two.'))] },
  },
  'empty-parts': {
    title: 'empty texts are no parts',
    request: { messages: [user(text(''), text('One.')), { role: 'assistant', content: '' }, user(text('Two.'))] },
  },
  'blank-part': {
    title: 'a text of white space beside another',
    request: { messages: [user(text('   '), text('One.'))] },
  },
  'user-neighbours': {
    title: 'user messages in a row',
    request: {
      messages: [
        { role: 'user', content: 'One.' },
        { role: 'user', content: 'Two.' },
      ],
    },
  },
  'assistant-neighbours': {
    title: 'assistant messages in a row',
    request: {
      messages: [hi, { role: 'assistant', content: 'One.' }, { role: 'assistant', content: 'Two.' }, hi],
    },
  },
  'assistant-first': {
    title: 'a conversation that the assistant began',
    request: { messages: [{ role: 'assistant', content: 'Hello.' }, hi] },
  },
  'assistant-last': {
    title: 'a conversation that ends with the assistant, in white space',
    request: { messages: [hi, { role: 'assistant', content: 'The answer is \n' }] },
  },
  'assistant-parts': {
    title: 'an assistant message of several texts',
    request: { messages: [hi, { role: 'assistant', content: [text('One.'), text('Two.')] }, hi] },
  },
  'names-of-participants': {
    title: 'names of participants',
    request: { messages: [{ role: 'user', content: 'hi', name: 'ada' }] },
  },
  'call-and-result': {
    title: 'a call and its result',
    request: {
      tools: [weather],
      messages: [hi, calls(call('call_1', 'weather', '{"city":"Oslo"}')), result('call_1', 'rain')],
    },
    ...GENERATIONS,
  },
  'text-and-call': {
    title: 'text beside a call stays, before it',
    request: {
      tools: [weather],
      messages: [
        hi,
        { role: 'assistant', content: 'Let me look.', tool_calls: [call('call_1', 'weather', '{"city":"Oslo"}')] },
        result('call_1', 'rain'),
      ],
    },
  },
  'parallel-calls': {
    title: 'parallel calls with their results in another order',
    request: {
      tools: [weather, clock],
      messages: [
        hi,
        calls(call('call_1', 'weather', '{"city":"Oslo"}'), call('call_2', 'clock', '{"city":"Rome"}')),
        result('call_2', 'noon'),
        result('call_1', 'rain'),
      ],
    },
    ...GENERATIONS,
  },
  'results-then-user': {
    title: 'what the user says right after the results',
    request: {
      tools: [weather],
      messages: [
        hi,
        calls(call('call_1', 'weather', '{"city":"Oslo"}')),
        result('call_1', 'rain'),
        { role: 'user', content: 'And tomorrow?' },
      ],
    },
  },
  'two-rounds': {
    title: 'two rounds of calls',
    request: {
      tools: [weather],
      messages: [
        hi,
        calls(call('call_1', 'weather', '{"city":"Oslo"}')),
        result('call_1', 'rain'),
        calls(call('call_2', 'weather', '{"city":"Rome"}')),
        result('call_2', 'sun'),
        { role: 'assistant', content: 'Rain and sun.' },
        { role: 'user', content: 'Thanks.' },
      ],
    },
    ...GENERATIONS,
  },
  'result-object': {
    title: 'a result that is a JSON object',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '{}')), result('c', '{"rain":true}')] },
  },
  'result-list': {
    title: 'a result that is a JSON list',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '{}')), result('c', '[1,2]')] },
  },
  'result-texts': {
    title: 'a result of several texts',
    request: {
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', '{}')), result('c', [text('rain'), text('wind')])],
    },
  },
  'result-empty': {
    title: 'a result that is empty',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '{}')), result('c', '')] },
  },
  'result-image': {
    title: 'a result with a picture',
    request: {
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', '{}')), result('c', [text('the map'), image(png)])],
    },
    ...GENERATIONS,
  },
  'result-of-no-call': {
    title: 'a result without a call',
    request: { tools: [weather], messages: [hi, result('c', 'rain')] },
  },
  'result-named': {
    title: 'a result without a call that names its tool',
    request: { tools: [weather], messages: [hi, result('c', 'rain', { name: 'weather' })] },
  },
  'arguments-empty': {
    title: 'a call whose arguments are the empty text',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '')), result('c', 'rain')] },
  },
  'arguments-list': {
    title: 'a call whose arguments are no object',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '["Oslo"]')), result('c', 'rain')] },
  },
  'arguments-broken': {
    title: 'a call whose arguments are broken JSON',
    request: { tools: [weather], messages: [hi, calls(call('c', 'weather', '{"city":')), result('c', 'rain')] },
  },
  'arguments-long-number': {
    title: 'a call with a whole number beyond what doubles can hold',
    request: {
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', '{"id":9007199254740993}')), result('c', 'rain')],
    },
  },
  'call-id-of-another': {
    title: 'a call id that not every API would accept',
    request: {
      tools: [weather],
      messages: [hi, calls(call('call.1:a', 'weather', '{}')), result('call.1:a', 'rain')],
    },
  },
  'functions-of-old': {
    title: 'calls and results in the deprecated spelling',
    request: {
      functions: [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }],
      messages: [
        hi,
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        { role: 'function', name: 'weather', content: 'rain' },
      ],
    },
  },
  refusal: {
    title: 'an earlier refusal of the assistant',
    request: { messages: [hi, { role: 'assistant', content: null, refusal: 'I cannot help.' }, hi] },
  },
  'refusal-part': {
    title: 'an earlier refusal of the assistant as a part',
    request: {
      messages: [hi, { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot help.' }] }, hi],
    },
  },
  'answer-in-sound': {
    title: 'an earlier answer in sound, by its id',
    request: { messages: [hi, { role: 'assistant', audio: { id: 'audio_1' } }, hi] },
  },
};
