import type { ListedModel } from '../../src/core/kernel/index.ts';

/** https://platform.openai.com/docs/api-reference/models/object. The gateway does not know `created`. */
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

/**
 * The list that Codex reads, beside OpenAI's in the same object (`ModelInfo` in
 * codex-rs/protocol/src/openai_models.rs). One model without a required field, such as `supported_reasoning_levels`,
 * makes Codex ignore the whole list.
 */
export const toCodexList = (models: readonly ListedModel[]): object => ({
  ...toOpenAiList(models),
  models: models.map(toCodexModel),
});

function toCodexModel({ id, name, provider, maxInput, capabilities, ...model }: ListedModel, index: number): object {
  const efforts = effortsOf(model);
  const [first] = efforts;
  return {
    slug: id,
    display_name: name,
    description: `${name} (${provider})`,
    ...(first !== undefined && { default_reasoning_level: first }),
    supported_reasoning_levels: efforts.map((effort) => ({ effort, description: `${effort} effort` })),
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    // The smallest number is first in the picker.
    priority: index,
    base_instructions: INSTRUCTIONS,
    supports_reasoning_summaries: efforts.length > 0,
    support_verbosity: false,
    truncation_policy: { mode: 'tokens', limit: 10_000 },
    // No `apply_patch_tool_type`: it makes `apply_patch` a custom tool, which servers that are compatible with OpenAI refuse. Codex
    // takes patches as a command of its shell, too.
    // No source documents it for many models; without it Codex requests single calls.
    supports_parallel_tool_calls: true,
    // Codex compacts a conversation at nine tenths of it, so it is the input that has to fit.
    ...(maxInput !== undefined && { context_window: maxInput }),
    ...(capabilities && { input_modalities: ['text', ...(capabilities.includes('vision') ? ['image'] : [])] }),
    experimental_supported_tools: [],
  };
}

/** Older models of Claude take a budget and no effort: the gateway makes budgets of efforts (docs/protocols/requests.md#reasoning). */
const BUDGETED: readonly string[] = ['medium', 'low', 'high'];

function effortsOf({ efforts, thinking = [] }: Pick<ListedModel, 'efforts' | 'thinking'>): readonly string[] {
  const byBudget = thinking.includes('enabled') && !thinking.includes('adaptive');
  return efforts ?? (byBudget ? BUDGETED : []);
}

/** Codex sends this text in place of the instructions that it has for models that it knows. */
const INSTRUCTIONS =
  'You are a coding agent running in the Codex CLI, a terminal-based coding assistant. Work on the task of the user with the tools you have until it is done: read the code before you change it, change files with apply_patch, run the checks of the repository, and report what you did in a few sentences.';
