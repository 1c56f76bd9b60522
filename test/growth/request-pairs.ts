import { createTarget } from '../../src/core/catalog/catalog-target.ts';
import {
  chatCompletions,
  chatCountTokens,
  completions,
  embeddings,
  images,
  moderations,
  speech,
} from '../../src/core/operations/openai.ts';
import { countTokens, messages } from '../../src/core/operations/messages.ts';
import {
  geminiEmbeddings,
  geminiGenerate,
  developerCountTokens,
  vertexCountTokens,
} from '../../src/core/operations/gemini.ts';
import { compactResponse, createResponse, inputTokens } from '../../src/core/operations/responses.ts';
import type { ModelTask } from '../../src/plugin/index.ts';
import type { Operation, ResolvedTarget } from '../../src/core/kernel/index.ts';
import { OPERATIONS } from '../../src/core/providers/openai/entry.ts';
import { createAdHocVertex } from '../../src/core/providers/vertex-ai/index.ts';
import { CHAT_SHAPES } from './chat-shapes.ts';
import { MESSAGES_SHAPES } from './messages-shapes.ts';
import {
  BATCH_EMBED_SHAPES,
  DEVELOPER_COUNT_SHAPES,
  EMBED_SHAPES,
  EMBEDDINGS_SHAPES,
  IMAGES_SHAPES,
  PASSED_SHAPES,
  PREDICT_SHAPES,
  VERTEX_COUNT_SHAPES,
} from './other-shapes.ts';
import type { Json } from './repeat.ts';
import { ITEM_SHAPES, RESPONSES_SHAPES } from './responses-shapes.ts';

export type Shapes = Readonly<Record<string, (bytes: number) => Json>>;

/** An operation, the bodies it is tried with, and where they go. */
export interface Route {
  readonly operation: Operation;
  readonly shapes: Shapes;
  /** One for each format of the upstreams. */
  readonly formats: Readonly<Record<string, ResolvedTarget>>;
  /** Other hosts of these formats, which take less, or more. */
  readonly hosts?: Readonly<Record<string, ResolvedTarget>>;
}

const vertex = createAdHocVertex({ projectId: 'project', region: 'us-central1' });

type Located = ReturnType<typeof vertex.locate>;

function target(provider: string, location: Located): ResolvedTarget {
  const named = { slug: provider, provider, semconvName: provider };
  const entry = { provider: named, timeouts: {} } as unknown as Parameters<typeof createTarget>[0];
  return createTarget(entry, { location, estimates: false }, { label: location.model, name: location.model });
}

const onVertex = (model: string, task: ModelTask = 'generate'): ResolvedTarget =>
  target('vertex', vertex.locate(model, { task, stream: false }));

const direct = { origin: 'https://upstream.example', headers: {}, host: 'direct' } as const;
const claude = target('anthropic', {
  ...direct,
  model: 'claude-sonnet-4-5',
  path: '/v1/messages',
  format: 'anthropic-messages',
});
const google = target('google', { ...direct, model: 'gemini-3-pro', path: '/v1beta', format: 'gemini' });
const openai = (task: ModelTask): ResolvedTarget => {
  const { path, codec } = OPERATIONS[task]!;
  return target('openai', { ...direct, model: 'gpt-5', path, format: 'openai-chat', ...(codec && { codec }) });
};

const ofResponses = target('openai', {
  ...direct,
  model: 'gpt-5.4',
  path: '/v1/responses',
  format: 'openai-responses',
  takesUnknownIds: true,
});

const countedByResponses = target('openai', {
  ...direct,
  model: 'gpt-5.4',
  path: '/v1/responses/input_tokens',
  format: 'openai-responses',
  takesUnknownIds: true,
});

const GENERATE = {
  formats: { openai: openai('generate'), claude, gemini: onVertex('gemini-2.5-flash'), responses: ofResponses },
  hosts: { 'claude on vertex': onVertex('anthropic.claude-sonnet-4-5'), 'gemini direct': google },
};

const EMBEDDINGS = {
  openai: openai('embeddings'),
  'text on vertex': onVertex('text-embedding-005', 'embeddings'),
};
const OF_GOOGLE = { ...EMBEDDINGS, 'gemini embedding': onVertex('gemini-embedding-2', 'embeddings') };
const embedding = (id: string): Operation => geminiEmbeddings.find((operation) => operation.id === id)!;

/** Where the work is that of a turn, which is tried with all shapes. */
const FEW: Shapes = Object.fromEntries(
  ['top-level keys', 'messages', 'unknown items', 'calls and outputs in turn', 'reasoning in envelopes', 'tools'].map(
    (name) => [name, RESPONSES_SHAPES[name]!],
  ),
);

/** Every API of the clients, with every API of the upstreams it is served by. */
export const ROUTES: readonly Route[] = [
  { operation: chatCompletions, shapes: CHAT_SHAPES, ...GENERATE },
  { operation: messages, shapes: MESSAGES_SHAPES, ...GENERATE },
  { operation: createResponse, shapes: { ...RESPONSES_SHAPES, ...ITEM_SHAPES }, ...GENERATE },
  { operation: compactResponse, shapes: RESPONSES_SHAPES, formats: { claude } },
  { operation: compactResponse, shapes: FEW, formats: { responses: ofResponses } },
  {
    operation: countTokens,
    shapes: MESSAGES_SHAPES,
    // Passed through, a count is the same as a request of the API.
    formats: { gemini: onVertex('gemini-2.5-flash', 'count_tokens') },
    hosts: { claude },
  },
  {
    operation: vertexCountTokens,
    shapes: VERTEX_COUNT_SHAPES,
    formats: {
      gemini: onVertex('gemini-2.5-flash', 'count_tokens'),
      'claude on vertex': onVertex('anthropic.claude-sonnet-4-5', 'count_tokens'),
    },
  },
  {
    operation: developerCountTokens,
    shapes: DEVELOPER_COUNT_SHAPES,
    formats: { gemini: google, claude },
  },
  {
    operation: chatCountTokens,
    shapes: CHAT_SHAPES,
    formats: { gemini: onVertex('gemini-2.5-flash', 'count_tokens') },
  },
  { operation: inputTokens, shapes: RESPONSES_SHAPES, formats: { claude } },
  {
    operation: inputTokens,
    shapes: FEW,
    formats: { gemini: onVertex('gemini-2.5-flash', 'count_tokens'), responses: countedByResponses },
  },
  {
    operation: geminiGenerate[0]!,
    shapes: VERTEX_COUNT_SHAPES,
    ...GENERATE,
  },
  { operation: embedding('gemini.embed_content'), shapes: EMBED_SHAPES, formats: OF_GOOGLE },
  { operation: embedding('gemini.batch_embed_contents'), shapes: BATCH_EMBED_SHAPES, formats: OF_GOOGLE },
  {
    operation: embedding('vertex.predict'),
    shapes: PREDICT_SHAPES,
    formats: { ...EMBEDDINGS, 'multimodal on vertex': onVertex('multimodalembedding@001', 'embeddings') },
  },
  {
    operation: embeddings,
    shapes: EMBEDDINGS_SHAPES,
    formats: {
      openai: openai('embeddings'),
      'text on vertex': onVertex('text-embedding-005', 'embeddings'),
      'multimodal on vertex': onVertex('multimodalembedding@001', 'embeddings'),
      'gemini embedding': onVertex('gemini-embedding-2', 'embeddings'),
    },
  },
  {
    operation: images,
    shapes: IMAGES_SHAPES,
    formats: {
      openai: openai('images'),
      imagen: onVertex('imagen-4.0-generate-001', 'images'),
      gemini: onVertex('gemini-2.5-flash-image', 'images'),
    },
  },
  { operation: completions, shapes: PASSED_SHAPES, formats: { openai: openai('completions') } },
  { operation: moderations, shapes: PASSED_SHAPES, formats: { openai: openai('moderations') } },
  { operation: speech, shapes: PASSED_SHAPES, formats: { openai: openai('speech') } },
];
