import type { ModelTask } from '../../plugin/index.ts';

interface TaskDescription {
  /** Completes "The model cannot produce …". */
  readonly result: string;
  /** The purpose of a model with this task; undefined for a task that models of other tasks also have. */
  readonly purpose: string | undefined;
  /** The request is a conversation in an API format. A provider's codec writes the body of any other task. */
  readonly isConversation: boolean;
  /** Replies report how many tokens were used. */
  readonly reportsUsage: boolean;
}

const CODED = { isConversation: false, reportsUsage: false } as const;

export const TASKS: Readonly<Record<ModelTask, TaskDescription>> = {
  generate: { result: 'an answer', purpose: 'answers', isConversation: true, reportsUsage: true },
  count_tokens: { result: 'a count of tokens', purpose: undefined, isConversation: true, reportsUsage: false },
  embeddings: { ...CODED, result: 'embeddings', purpose: 'embeddings', reportsUsage: true },
  images: { ...CODED, result: 'images', purpose: 'images' },
  completions: { ...CODED, result: 'completions', purpose: 'completions', reportsUsage: true },
  moderations: { ...CODED, result: 'moderation results', purpose: 'moderation' },
  transcriptions: { ...CODED, result: 'transcriptions', purpose: 'transcriptions', reportsUsage: true },
  translations: { ...CODED, result: 'translations of audio', purpose: 'translations' },
  image_edits: { ...CODED, result: 'edited images', purpose: 'image edits' },
  image_variations: { ...CODED, result: 'variations of images', purpose: 'image variations' },
  speech: { ...CODED, result: 'speech', purpose: 'speech' },
};

export const MODEL_TASKS = Object.keys(TASKS) as readonly ModelTask[];
