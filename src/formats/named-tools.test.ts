import { describe, expect, it } from 'vitest';
import type { JsonObject } from './conversation.ts';
import type { RequestTarget } from './request-target.ts';
import type { SearchableBody } from './body-view.ts';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { translateRequest } from './translate.ts';
import { finish } from './steps.ts';

const NONE: ReadonlySet<string> = new Set();
const messages = [{ role: 'user', content: 'hi' }];
const search = { type: 'function', function: { name: 'web_search' } };
const described = { type: 'function', function: { name: 'web_search', description: 'd' } };
const own = { type: 'function', function: { name: 'web_search', parameters: { type: 'object', properties: {} } } };
const other = { type: 'function', function: { name: 'f' } };
const browser = { type: 'function', function: { name: 'computer_use', parameters: { environment: 'BROWSER' } } };

function translated(upstream: 'anthropic-messages' | 'openai-chat' | 'gemini', body: JsonObject, model: string) {
  const target = requestTarget({ model, extensions: NONE });
  const client = formats['openai-chat'];
  const request = { model, messages, max_tokens: 100, ...body };
  return finish(translateRequest(request, { client, upstream: formats[upstream], target, reply: replyContext() }));
}

function cleaned(body: JsonObject, target: Partial<RequestTarget>) {
  const text = JSON.stringify(body);
  const view: SearchableBody = {
    has: (key) => key in body,
    value: (key) => body[key],
    contains: (part) => text.includes(part),
    mayMatch: (pattern) => pattern.test(text),
  };
  const cleaning = formats['openai-chat'].passThrough?.clean(view, requestTarget(target));
  return (
    cleaning && {
      edits: Object.fromEntries(cleaning.edits.map(({ path, value }) => [path.join('.'), value])),
      losses: cleaning.losses.map(({ param }) => param),
    }
  );
}

describe('a function web_search without parameters', () => {
  const claude = (body: JsonObject) => translated('anthropic-messages', body, 'claude-sonnet-4-5-20250929');
  const serverTool = { type: 'web_search_20250305', name: 'web_search' };

  it('is the provider’s own search on Claude', () => {
    expect(claude({ tools: [search, other] })).toMatchObject({ body: { tools: [serverTool, { name: 'f' }] } });
    expect(claude({ tools: [search] }).losses).toEqual([]);
  });

  it('loses its description there', () => {
    const { body, losses } = claude({ tools: [described] });
    expect(body.tools).toEqual([serverTool]);
    expect(losses).toMatchObject([{ param: 'tools[0].function.description' }]);
  });

  it('is not sent twice beside web_search_options', () => {
    const { body, losses } = claude({ tools: [search], web_search_options: {} });
    expect(body.tools).toEqual([serverTool]);
    expect(losses).toEqual([]);
  });

  it('stays the caller’s function with parameters', () => {
    expect(claude({ tools: [own] }).body.tools).toMatchObject([{ name: 'web_search', input_schema: {} }]);
  });

  it('is Google’s search, with or without parameters', () => {
    for (const tool of [search, own])
      expect(translated('gemini', { tools: [tool] }, 'gemini-2.5-pro').body.tools).toEqual([{ googleSearch: {} }]);
  });

  it.each([
    'gpt-4o-search-preview',
    'gpt-4o-mini-search-preview-2025-03-11',
    'gpt-5-search-api',
    'openai/gpt-5-search-api',
  ])('becomes web_search_options of %s', (model) => {
    expect(cleaned({ tools: [search, other] }, { model })).toEqual({
      edits: { tools: [other], web_search_options: {} },
      losses: [],
    });
  });

  it('is lost on OpenAI’s other models, with the choice of it', () => {
    const choice = { type: 'function', function: { name: 'web_search' } };
    const target = { model: 'gpt-4o', extensions: NONE };
    expect(cleaned({ tools: [search], tool_choice: choice, parallel_tool_calls: false }, target)).toEqual({
      edits: { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined },
      losses: ['tools[0]', 'tool_choice', 'parallel_tool_calls'],
    });
    expect(cleaned({ tools: [other, search], tool_choice: 'auto' }, target)).toEqual({
      edits: { tools: [other] },
      losses: ['tools[1]'],
    });
  });

  it.each<[string, JsonObject, Partial<RequestTarget>]>([
    ['at a compatible server', { tools: [search, browser] }, { model: 'gpt-4o' }],
    ['with parameters', { tools: [own] }, { model: 'gpt-4o', extensions: NONE }],
    ['of a broken body', { tools: ['web_search', null, { type: 'function', function: 3 }] }, { extensions: NONE }],
    ['that is only mentioned', { messages: ['"web_search"'] }, { extensions: NONE }],
  ])('keeps the caller’s bytes %s', (_, body, target) => {
    expect(cleaned(body, target)).toBeUndefined();
  });
});

describe('a web search of the Messages API', () => {
  const write = (model: string) => {
    const body = { model, max_tokens: 9, messages, tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    const target = requestTarget({ model, extensions: NONE });
    const [client, upstream] = [formats['anthropic-messages'], formats['openai-chat']];
    return finish(translateRequest(body, { client, upstream, target, reply: replyContext() }));
  };

  it('becomes web_search_options of a model that takes them, and is lost elsewhere', () => {
    expect(write('gpt-5-search-api').body).toMatchObject({ web_search_options: {} });
    const { body, losses } = write('gpt-4o');
    expect(body).not.toHaveProperty('web_search_options');
    expect(losses).toMatchObject([{ param: 'tools[0]', action: 'dropped' }]);
  });
});

describe('computer use', () => {
  it.each([browser, { type: 'computer_use' }])('is refused by Claude with a hint: %j', (tool) => {
    expect(() => translated('anthropic-messages', { tools: [tool] }, 'claude-sonnet-4-5')).toThrow(
      /`tools\[0\]`: this target has no computer use.*computer-use preview.*compliance: false/,
    );
  });

  it('is refused by OpenAI itself with a hint', () => {
    expect(() => cleaned({ tools: [other, browser] }, { extensions: NONE })).toThrow(
      /`tools\[1\]`.*computer-use preview/,
    );
  });

  it('is a function of the caller with properties of its own', () => {
    const parameters = { type: 'object', properties: { environment: { type: 'string' } } };
    const tool = { type: 'function', function: { name: 'computer_use', parameters } };
    expect(translated('anthropic-messages', { tools: [tool] }, 'claude-sonnet-4-5').body.tools).toMatchObject([
      { name: 'computer_use', input_schema: parameters },
    ]);
    expect(cleaned({ tools: [tool] }, { extensions: NONE })).toBeUndefined();
  });
});
