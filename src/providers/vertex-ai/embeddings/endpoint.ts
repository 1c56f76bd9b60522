import { unsupportedTask } from '../../model-name.ts';
import type { ModelEndpoint } from '../model-endpoint.ts';
import { embedContentCodec } from './embed-content.ts';
import { multimodalCodec } from './multimodal.ts';
import { MAX_INSTANCES, type EmbeddingSettings } from './settings.ts';
import { textCodec } from './text.ts';

/** `text-embedding-005`, `text-multilingual-embedding-002`, `textembedding-gecko@003`, and unknown models with a similar name. */
const TEXT = /embed/;
/**
 * Models that get one instance per call: Google's older pages allow only one, a newer page names no limit
 * (docs/protocols/embeddings.md#one-instance), and one satisfies both.
 */
const ONE_BY_ONE = /^gemini-embedding-(?:0|exp)/;
const EMBED_CONTENT = /^gemini-embedding-[1-9]/;
const MULTIMODAL = /^multimodalembedding/;

/** @param under returns the path of the model with a method appended */
export function embeddingEndpoint(
  model: string,
  under: (method: string) => string,
  settings: EmbeddingSettings,
): ModelEndpoint {
  const { instancesPerCall, parallelCalls } = settings;
  if (ONE_BY_ONE.test(model))
    return predictedEmbeddings(under(':predict'), model, { ...settings, instancesPerCall: instancesPerCall ?? 1 });
  if (EMBED_CONTENT.test(model))
    return { path: under(':embedContent'), format: 'gemini', model, codec: embedContentCodec(parallelCalls) };
  if (MULTIMODAL.test(model))
    return { path: under(':predict'), format: 'gemini', model, codec: multimodalCodec(parallelCalls) };
  if (TEXT.test(model)) return predictedEmbeddings(under(':predict'), model, settings);
  throw unsupportedTask(model, 'embeddings');
}

/** Text embeddings in the format of Google's own models. */
export function predictedEmbeddings(path: string, model: string, settings: EmbeddingSettings): ModelEndpoint {
  const { instancesPerCall = MAX_INSTANCES, parallelCalls } = settings;
  return { path, format: 'gemini', model, codec: textCodec({ instancesPerCall, parallelCalls }) };
}
