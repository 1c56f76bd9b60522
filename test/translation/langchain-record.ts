/**
 * The turns of a Messages request as LangChain's ChatOpenAI sends them. A second opinion on the turns alone: settings are fields
 * of its constructor, which say nothing of a translation.
 */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import type { Json } from './outbound.ts';
import type { Recorded } from './sdk-record.ts';
import { blocksOf, promptOfMessages } from './sdk-blocks.ts';
import { Unspoken, objects, string, unspoken, type Prompt } from './sdk-words.ts';

export async function recordTurns(model: string, request: Json): Promise<Recorded> {
  let sent: Json | undefined;
  const fetch = (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    sent = JSON.parse(String(init?.body)) as Json;
    return Promise.resolve(new Response('{}', { status: 400, headers: { 'content-type': 'application/json' } }));
  };
  const chat = new ChatOpenAI({ model, apiKey: 'none', maxRetries: 0, configuration: { fetch } });
  try {
    const system = blocksOf(request['system']).filter(({ text }) => text !== '');
    const prompt: Prompt = [
      ...system.map((block) => ({ role: 'system' as const, content: string(block['text']) })),
      ...promptOfMessages(objects(request['messages'])),
    ];
    await chat.invoke(prompt.flatMap(messagesOf));
  } catch (error) {
    if (error instanceof Unspoken) return { unspoken: error.message };
    if (!sent) return { refused: error instanceof Error ? error.message : String(error) };
  }
  return { body: { messages: sent?.['messages'] } };
}

type Turn = Prompt[number];

function messagesOf(turn: Turn): BaseMessage[] {
  switch (turn.role) {
    case 'system':
      return [new SystemMessage(turn.content)];
    case 'user':
      return [new HumanMessage({ content: contentOf(turn.content) })];
    case 'assistant':
      return [spokenOf(turn)];
    case 'tool':
      return turn.content.map((result) => {
        if (result.type !== 'tool-result') return unspoken('an approval');
        const { output } = result;
        if (output.type !== 'text' && output.type !== 'error-text') return unspoken('a result that is no text');
        const status = output.type === 'text' ? 'success' : 'error';
        return new ToolMessage({ tool_call_id: result.toolCallId, content: output.value, status });
      });
  }
}

/** One text is the string a caller would write. */
function contentOf(parts: Extract<Turn, { role: 'user' }>['content']) {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text' as const, text: part.text };
    const { data, mediaType, filename } = part;
    // LangChain makes one up, and says on the console that it did.
    if (filename === undefined && mediaType === 'application/pdf' && !(data instanceof URL))
      unspoken('a PDF without a name');
    const source =
      data instanceof URL ? { source_type: 'url', url: data.href } : { source_type: 'base64', data: String(data) };
    const kind = mediaType.startsWith('image/') ? 'image' : 'file';
    return { type: kind, ...source, mime_type: mediaType, ...(filename !== undefined && { metadata: { filename } }) };
  });
}

function spokenOf({ content }: Extract<Turn, { role: 'assistant' }>): AIMessage {
  const texts: string[] = [];
  const calls: { id: string; name: string; args: Record<string, unknown>; type: 'tool_call' }[] = [];
  for (const part of content) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'tool-call')
      calls.push({ id: part.toolCallId, name: part.toolName, args: { ...Object(part.input) }, type: 'tool_call' });
    else unspoken(`${part.type} of an assistant`);
  }
  const said = texts.length === 1 ? texts[0]! : texts.map((text) => ({ type: 'text' as const, text }));
  return new AIMessage({ content: texts.length === 0 ? '' : said, tool_calls: calls });
}
