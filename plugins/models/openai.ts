import type { ListedModel } from '../../src/plugin/index.ts';

/**
 * https://platform.openai.com/docs/api-reference/models/object. `created` is 0 because the gateway does not know it.
 */
export const toOpenAiModel = ({ id, provider, context, maxOutput, efforts }: ListedModel): object => ({
  id,
  object: 'model',
  created: 0,
  owned_by: provider,
  // Beyond OpenAI's API, where the gateway knows them: clients of other vendors' servers read such fields.
  ...(context !== undefined && { context_window: context }),
  ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
  ...(efforts && { supported_reasoning_efforts: efforts }),
});

export const toOpenAiList = (models: readonly ListedModel[]): object => ({
  object: 'list',
  data: models.map(toOpenAiModel),
});
