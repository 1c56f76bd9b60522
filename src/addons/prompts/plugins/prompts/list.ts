import type { ListedPrompt } from '../../../../core/kernel/index.ts';

/** The body of `GET /v1/prompts`, in the form of OpenAI's lists. */
export const toList = (prompts: readonly ListedPrompt[]): object => ({
  object: 'list',
  total: prompts.length,
  data: prompts.map(({ id, description, labels, versions }) => ({
    object: 'prompt',
    id,
    slug: id,
    name: id,
    ...(description !== undefined && { description }),
    latest: versions.at(-1)?.version,
    labels,
    versions: versions.map(({ version, released, note, model, variables }) => ({
      version,
      released,
      ...(note !== undefined && { note }),
      ...(model !== undefined && { model }),
      variables,
    })),
  })),
});
