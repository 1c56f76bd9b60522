import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { formats } from '../index.ts';
import { objectOf } from '../json/object.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { noLosses } from '../losses/reply-losses.ts';
import { accumulated, eventsOf } from './sdk.testkit.ts';

/** Items of tools that a provider ran, as clients of OpenAI's SDKs follow them. */

const responses = formats['openai-responses'];
const client = clientContext({ id: 'resp_0123456789abcdef0123456789abcdef', ownId: true });
const START = { type: 'start', id: 'x' } as const;
const END: readonly GenerationEvent[] = [{ type: 'finish', choice: 0, reason: 'stop' }, { type: 'end' }];

function streamed(events: readonly GenerationEvent[]): string {
  const encoder = responses.encodeStream(client);
  return [START, ...events, ...END].map((event) => encoder.push([event])).join('');
}
const plain = (events: readonly GenerationEvent[]): JsonObject =>
  JSON.parse(JSON.stringify(replyWith(responses, [START, ...events, ...END], client))) as JsonObject;

const called = (id: string, block = 0): GenerationEvent => ({
  type: 'mcp_call',
  choice: 0,
  block,
  id,
  server: 'docs',
  name: 'read',
  arguments: '{"page":1}',
});
const answered = (callId: string, isError = false): GenerationEvent => ({
  type: 'mcp_result',
  choice: 0,
  block: 1,
  callId,
  content: [{ type: 'text', text: 'Text.' }],
  isError,
});
const text: GenerationEvent = { type: 'text', choice: 0, block: 2, text: 'Done.' };

const item = (at: string, changes: JsonObject = {}) => ({
  id: `mcp_0123456789abcdef0123456789ab000${at}`,
  type: 'mcp_call',
  status: 'completed',
  approval_request_id: null,
  arguments: '{"page":1}',
  error: null,
  name: 'read',
  output: 'Text.',
  server_label: 'docs',
  ...changes,
});

describe('a call of an MCP server', () => {
  it('is announced when the model calls, and whole when the server has answered', () => {
    const events = eventsOf(streamed([called('a'), answered('a')])).map(({ type }) => type);
    expect(events).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('keeps its place while others begin and end', async () => {
    const events = [called('a'), called('b'), answered('b', true), answered('a'), text];
    const { output } = await accumulated(streamed(events));
    expect(output).toEqual([
      item('0'),
      item('1', { status: 'failed', error: 'Text.', output: null }),
      expect.objectContaining({ type: 'message' }),
    ]);
    expect(plain(events).output).toMatchObject([item('0'), { id: item('1').id }, { type: 'message' }]);
  });

  it('is incomplete if the answer ends before the server has answered', async () => {
    const { output } = await accumulated(streamed([called('a'), text]));
    expect(output).toMatchObject([{ status: 'incomplete', output: null, error: null }, { type: 'message' }]);
  });

  it('is two items if a provider repeats its id', async () => {
    const { output } = await accumulated(streamed([called('a'), called('a'), answered('a')]));
    expect(output).toMatchObject([{ status: 'incomplete' }, { status: 'completed' }]);
  });

  it('without its call is reported', () => {
    const notes = noLosses();
    replyWith(responses, [START, answered('a'), ...END], client, notes);
    expect(notes.losses).toMatchObject([{ param: 'reply.content_blocks' }]);
  });

  it('is read back', () => {
    const events = responses.decodeReply(plain([called('mcptoolu_a'), answered('mcptoolu_a')]), replyContext());
    const { id } = item('0');
    expect(events.slice(1, 3)).toEqual([
      { ...called(id), block: 0 },
      { ...answered(id), block: 0 },
    ]);
  });
});

describe('a picture', () => {
  const picture: GenerationEvent = { type: 'media', choice: 0, block: 0, mime: 'image/jpeg', data: 'aGk=' };

  it('is announced without its bytes', () => {
    const events = eventsOf(streamed([picture]));
    expect(events.map(({ type }) => type).slice(2, -1)).toEqual([
      'response.output_item.added',
      'response.image_generation_call.in_progress',
      'response.image_generation_call.generating',
      'response.image_generation_call.completed',
      'response.output_item.done',
    ]);
    expect(objectOf(events[2]!.item)).toMatchObject({ status: 'in_progress', result: null });
  });

  it('is whole at its end, and in the response', async () => {
    const { output } = await accumulated(streamed([picture]));
    const whole = { type: 'image_generation_call', status: 'completed', output_format: 'jpeg', result: 'aGk=' };
    expect(output).toMatchObject([whole]);
    expect(plain([picture]).output).toMatchObject([whole]);
  });
});

it('a response repeats a tool `mcp` without its secrets', () => {
  const tool = {
    type: 'mcp',
    server_label: 'docs',
    server_url: 'https://user:secret-1@mcp.example/secret-2?key=secret-3',
    authorization: 'secret-4',
    headers: { 'x-key': 'secret-5' },
  };
  const bare = { type: 'mcp', server_label: 'a', server_url: 'https://mcp.example' };
  const tools = [tool, { type: 'namespace', name: 'n', tools: [tool] }, bare, { ...bare, server_url: 'secret-6' }];
  const echo = { fields: { tools }, tools: new Map() };
  const reply = replyWith(responses, [START, ...END], { ...client, echo });
  const shown = {
    ...tool,
    server_url: 'https://mcp.example/<redacted>',
    authorization: '<redacted>',
    headers: { 'x-key': '<redacted>' },
  };
  expect(reply.tools).toEqual([
    shown,
    { type: 'namespace', name: 'n', tools: [shown] },
    bare,
    { ...bare, server_url: '<redacted>' },
  ]);
});
