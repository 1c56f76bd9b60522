import type { ListedModel } from '../../src/plugin/index.ts';

/**
 * https://platform.openai.com/docs/api-reference/models/object. `created` is 0 because the gateway does not know it.
 */
export const toOpenAiModel = ({ id, provider }: ListedModel): object => ({
  id,
  object: 'model',
  created: 0,
  owned_by: provider,
});

export const toOpenAiList = (models: readonly ListedModel[]): object => ({
  object: 'list',
  data: models.map(toOpenAiModel),
});
