import { call, calls, type Cases, hi, result, text, user, weather } from './case.ts';

const cache_control = { type: 'ephemeral' } as const;
const hour = { type: 'ephemeral', ttl: '1h' } as const;

/**
 * Cache markers (docs/protocols/openai-chat.md#cache-markers, docs/protocols/anthropic-messages.md#cache-control,
 * docs/protocols/requests.md#cache-markers-for-claude).
 */
export const cacheControl: Cases = {
  system: {
    title: 'a marker on a system text',
    request: { messages: [{ role: 'system', content: [text('Long.', { cache_control }), text('Short.')] }, hi] },
  },
  'user-hour': {
    title: 'a marker with a time to live on a user text',
    request: { messages: [user(text('Long.', { cache_control: hour }), text('Short.'))] },
  },
  message: {
    title: 'a marker on a whole message is on its last part',
    request: { messages: [{ ...user(text('One.'), text('Two.')), cache_control }] },
  },
  assistant: {
    title: 'a marker on an assistant message',
    request: { messages: [hi, { role: 'assistant', content: 'Hello.', cache_control }, hi] },
  },
  tool: {
    title: 'a marker on a tool',
    request: { tools: [{ ...weather, cache_control: hour }] },
  },
  result: {
    title: 'a marker on a tool result',
    request: {
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', '{}')), result('c', 'rain', { cache_control })],
    },
  },
  openai: {
    title: 'a marker in OpenAI’s spelling',
    request: { messages: [user(text('Long.', { prompt_cache_breakpoint: { mode: 'explicit' } }), text('Short.'))] },
  },
  implicit: {
    title: 'a marker in OpenAI’s spelling that asks for nothing',
    request: { messages: [user(text('Long.', { prompt_cache_breakpoint: { mode: 'implicit' } }))] },
  },
  image: {
    title: 'a marker on a picture',
    request: {
      messages: [
        user(
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' }, cache_control },
          text('What?'),
        ),
      ],
    },
  },
};
