/** The names of a request body's fields, for code that reads or edits single fields without decoding the body. */
export interface FieldTable {
  /**
   * Paths that the gateway reads or edits in a body of this API. JSON readers that ignore case (Go's encoding/json) take `MODEL` for
   * `model`: a key that folds to one of these is refused.
   */
  readonly read: readonly string[];
  /** Groups of paths that mean the same or replace each other. An edit that sets one removes the others. */
  readonly synonyms: readonly (readonly string[])[];
  /** Field names occur in camelCase and in snake_case, as in protobuf's JSON. */
  readonly bothCases: boolean;
  /** Objects whose fields some upstreams read as if they stood at the top level of the body. */
  readonly lifted: readonly string[];
  /** Top-level fields with names of further models, which some upstreams call in place of `model`. */
  readonly models: readonly string[];
  /**
   * Paths whose keys the caller invents: maps, arguments of tools and JSON Schemas. `[]` stands for every item of a
   * list.
   */
  readonly freeMaps: readonly string[];
}

/**
 * OpenRouter reads `models` (https://openrouter.ai/docs/features/model-routing), LiteLLM's proxy the three lists of fallbacks
 * (https://docs.litellm.ai/docs/proxy/reliability), Anthropic's beta `fallbacks` (docs/protocols/anthropic-messages.md#beta-fields).
 */
export const MODEL_LISTS = ['models', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const;

/**
 * LiteLLM's proxy hands `extra_body` to the OpenAI SDK, which merges it over the body that it sends
 * (https://docs.litellm.ai/docs/completion/provider_specific_params).
 */
export const LIFTED = ['extra_body'] as const;
