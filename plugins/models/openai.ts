import type { ListedModel } from '../../src/core/kernel/index.ts';

/**
 * https://platform.openai.com/docs/api-reference/models/object. `created` is 0 because the gateway does not know it.
 */
export const toOpenAiModel = ({ id, provider, ...facts }: ListedModel): object => ({
  id,
  object: 'model',
  created: 0,
  owned_by: provider,
  // Beyond OpenAI's API, where the gateway knows them: clients of other vendors' servers read such fields.
  ...(facts.context !== undefined && { context_window: facts.context }),
  ...(facts.maxInput !== undefined && { max_input_tokens: facts.maxInput }),
  ...(facts.maxOutput !== undefined && { max_output_tokens: facts.maxOutput }),
  ...(facts.efforts && { supported_reasoning_efforts: facts.efforts }),
  ...(facts.capabilities && { capabilities: facts.capabilities }),
});

export const toOpenAiList = (models: readonly ListedModel[]): object => ({
  object: 'list',
  data: models.map(toOpenAiModel),
});
