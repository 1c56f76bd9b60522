/** Test support for every format: arbitrary generations, and their events in any fragments. */
import * as fc from 'fast-check';
import type { FinishReason, GenerationEvent, Usage } from './events.ts';
import type { Maker } from './maker.ts';

/** Text that models write, and text that breaks parsers: emoji, quotes, escapes, SSE look-alikes, line separators. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 24, unit: 'grapheme' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\n\ndata: [DONE]\n\n',
      'data: {"error":{"message":"not one"}}',
      '"usage":null,"finish_reason":"stop"',
      '\\"usage\\":{"prompt_tokens":1}',
      '\u2028\u2029\u0000\t\r\n',
      '👩‍👩‍👧‍👦 é \u00e9 日本語',
      '[DONE]',
      'event: error',
      '\\',
      '"',
    ),
  },
);

const json = fc.jsonValue({ maxDepth: 2 });
/**
 * Arguments as compact JSON of an object. Every format can express these; only some can express `''` and broken JSON.
 */
const toolArguments = fc
  .dictionary(fc.string({ minLength: 1, maxLength: 8 }), json, { maxKeys: 3 })
  .map((value) => JSON.stringify(value));
const base64 = fc.uint8Array({ minLength: 1, maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const toolName = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,15}$/);

/** A content block of a generation, before it is cut into events. */
export type Block =
  | { readonly type: 'text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: string; readonly maker?: Maker }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly signature?: string;
    }
  | { readonly type: 'media'; readonly mime: string; readonly data: string; readonly signature?: string }
  | {
      readonly type: 'mcp_call';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly output: string;
      readonly isError: boolean;
    };

export interface GeneratedChoice {
  readonly blocks: readonly Block[];
  readonly refusal?: string;
  readonly finish: FinishReason;
}

export interface GeneratedReply {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly GeneratedChoice[];
  readonly usage: Usage;
}

/** Content that the format under test can express. With everything off: text and tool calls only. */
export interface Abilities {
  readonly choices?: number;
  readonly thinking?: boolean;
  readonly redacted?: boolean;
  /** Signatures on thinking; `textSignatures` and `callSignatures` are Gemini's. */
  readonly signatures?: boolean;
  /** The maker of the signatures on thinking, if it is not Claude. */
  readonly thoughtsBy?: Maker;
  readonly textSignatures?: boolean;
  readonly callSignatures?: boolean;
  readonly media?: boolean;
  /** Calls of MCP servers, each with its result. */
  readonly mcp?: boolean;
  readonly refusal?: boolean;
  readonly cacheUsage?: boolean;
}

function optional<T>(on: boolean | undefined, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return on ? fc.option(arbitrary, { nil: undefined }) : fc.constant(undefined);
}

function blockArbitrary(can: Abilities): fc.Arbitrary<Block> {
  const kinds: fc.Arbitrary<Block>[] = [
    fc
      .tuple(text, optional(can.textSignatures, base64))
      .map(([text, signature]) => ({ type: 'text', text, ...(signature && { signature }) })),
    fc.tuple(toolName, toolArguments, optional(can.callSignatures, base64)).map(([name, args, signature]) => ({
      type: 'tool_call',
      id: '',
      name,
      arguments: args,
      ...(signature && { signature }),
    })),
  ];
  const made = can.thoughtsBy ? { maker: can.thoughtsBy } : {};
  if (can.thinking) {
    kinds.push(
      fc
        .tuple(text, optional(can.signatures, base64))
        .map(([text, signature]) => ({ type: 'thinking', text, ...(signature && { signature, ...made }) })),
    );
  }
  if (can.redacted) kinds.push(base64.map((data) => ({ type: 'redacted_thinking', data })));
  if (can.mcp) {
    kinds.push(
      fc
        .tuple(toolName, toolArguments, text, fc.boolean())
        .map(([name, args, output, isError]) => ({ type: 'mcp_call', id: '', name, arguments: args, output, isError })),
    );
  }
  if (can.media) kinds.push(base64.map((data) => ({ type: 'media', mime: 'image/png', data })));
  return fc.oneof(...kinds);
}

/**
 * Gives every call its own id. Neighbouring blocks of one kind stay separate (for formats that cannot express that:
 * `joinNeighbours`).
 */
function choiceArbitrary(can: Abilities): fc.Arbitrary<GeneratedChoice> {
  return fc
    .tuple(
      fc.array(blockArbitrary(can), { maxLength: 6 }),
      optional(can.refusal, text),
      fc.constantFrom<FinishReason>('stop', 'length', 'content_filter'),
    )
    .map(([raw, refusal, plain]) => {
      let calls = 0;
      const blocks = raw.map((block, at) => {
        if (block.type === 'mcp_call') return { ...block, id: `mcptoolu_${at}` };
        return block.type === 'tool_call' ? { ...block, id: `call_${calls++}_${block.name}` } : block;
      });
      return { blocks, finish: calls > 0 ? 'tool_calls' : plain, ...(refusal !== undefined && { refusal }) };
    });
}

function usageArbitrary(can: Abilities): fc.Arbitrary<Usage> {
  const count = fc.nat({ max: 5000 });
  return fc.tuple(count, count, count, count, count).map(([fresh, cached, written, spoken, thought]) => {
    const input = can.cacheUsage ? fresh + cached + written : fresh;
    const output = spoken + (can.thinking ? thought : 0);
    return {
      input,
      output,
      total: input + output,
      ...(can.cacheUsage && { cacheRead: cached, cacheWrite: written }),
      ...(can.thinking && { reasoning: thought }),
    };
  });
}

/** An arbitrary well-formed reply. Turn it into events with `toEvents`. */
export function generation(can: Abilities = {}): fc.Arbitrary<GeneratedReply> {
  return fc
    .tuple(fc.array(choiceArbitrary(can), { minLength: 1, maxLength: can.choices ?? 1 }), usageArbitrary(can))
    .map(([choices, usage]) => ({ id: 'reply-1', model: 'model-ran', choices, usage }));
}

/**
 * Joins neighbours of one kind, for wires that cannot separate two consecutive text blocks. Signed text stays separate.
 */
export function joinNeighbours(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    const mergeable = last && last.type === block.type && (block.type === 'text' || block.type === 'thinking');
    if (mergeable && (last.type === 'text' || last.type === 'thinking') && !last.signature) {
      joined[joined.length - 1] = {
        ...last,
        text: last.text + block.text,
        ...(block.signature && { signature: block.signature, ...madeBy(block) }),
      };
    } else joined.push(block);
  }
  return joined;
}

export const seed = fc.integer({ min: 1, max: 0x7fffffff });

// ---------------------------------------------------------------- events

/** A small deterministic generator (mulberry32): the seed printed by a failing property repeats the same cuts. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Cuts text at random places, never inside a surrogate pair (a decoder of whole JSON strings cannot produce that). */
export function fragments(text: string, next: (() => number) | undefined): string[] {
  if (!next) return [text];
  const units = [...text];
  const pieces: string[] = [];
  while (units.length > 0) pieces.push(units.splice(0, 1 + Math.floor(next() * 4)).join(''));
  return pieces.length > 0 ? pieces : [''];
}

/** Without a seed: whole parts, as a plain reply decodes. With one: fragments, as a stream decodes. */
export function toEvents(reply: GeneratedReply, cuts?: number): GenerationEvent[] {
  const next = cuts === undefined ? undefined : random(cuts);
  const events: GenerationEvent[] = [{ type: 'start', id: reply.id, model: reply.model }];
  reply.choices.forEach((choice, index) => {
    let call = 0;
    choice.blocks.forEach((block, at) => {
      events.push(...blockEvents(block, { choice: index, block: at, call }, next));
      if (block.type === 'tool_call') call += 1;
    });
    if (choice.refusal !== undefined) {
      for (const text of fragments(choice.refusal, next)) events.push({ type: 'refusal', choice: index, text });
    }
  });
  events.push({ type: 'usage', usage: reply.usage });
  reply.choices.forEach((choice, index) => events.push({ type: 'finish', choice: index, reason: choice.finish }));
  events.push({ type: 'end' });
  return events;
}

interface EventPlace {
  readonly choice: number;
  readonly block: number;
  readonly call: number;
}

const madeBy = (block: Block): { maker?: Maker } => ('maker' in block && block.maker ? { maker: block.maker } : {});

function blockEvents(
  block: Block,
  { choice, block: at, call }: EventPlace,
  next: (() => number) | undefined,
): GenerationEvent[] {
  const signature = 'signature' in block && block.signature !== undefined ? { signature: block.signature } : {};
  switch (block.type) {
    case 'text':
    case 'thinking': {
      const events: GenerationEvent[] = fragments(block.text, next).map((text) => ({
        type: block.type,
        choice,
        block: at,
        text,
      }));
      if (block.signature !== undefined)
        events.push({ type: 'signature', choice, block: at, signature: block.signature, ...madeBy(block) });
      return events;
    }
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', choice, block: at, data: block.data }];
    case 'media':
      return [{ type: 'media', choice, block: at, mime: block.mime, data: block.data, ...signature }];
    case 'mcp_call': {
      const { id, name, arguments: args, output, isError } = block;
      const place = { choice, block: at };
      return [
        { type: 'mcp_call', ...place, id, server: 'docs', name, arguments: args },
        { type: 'mcp_result', ...place, callId: id, content: [{ type: 'text', text: output }], isError },
      ];
    }
    case 'tool_call': {
      const { id, name } = block;
      return [
        { type: 'tool_call', choice, block: at, call, id, name, ...signature },
        ...fragments(block.arguments, next).map((text): GenerationEvent => ({
          type: 'tool_arguments',
          choice,
          call,
          text,
        })),
      ];
    }
  }
}
