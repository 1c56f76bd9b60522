import type { BodyEdit, BodyView, RequestTarget } from '../format.ts';
import { VERTEX_VERSION } from './encode-extras.ts';

const source = 'gateway';

/**
 * The API has the model in the body. Vertex AI has it in the path (docs/protocols/vertex-ai.md#claude-on-vertex-ai), except for a token
 * count (docs/protocols/vertex-ai.md#claude-token-count).
 */
export function isModelInBody({ host, modelInBody }: RequestTarget): boolean {
  return host === 'direct' || modelInBody === true;
}

/** The model under the name of this host, and on Vertex AI a version in the body (docs/protocols/vertex-ai.md#claude-version). */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  const model = isModelInBody(target) ? target.model : undefined;
  const edits: BodyEdit[] = body.value('model') === model ? [] : [{ path: ['model'], value: model, source }];
  if (target.host === 'vertex' && !body.has('anthropic_version'))
    edits.push({ path: ['anthropic_version'], value: VERTEX_VERSION, source });
  return edits;
}
