import type { ListedModel } from '../../src/core/kernel/index.ts';

type Facts = Pick<ListedModel, 'capabilities' | 'efforts' | 'thinking'>;

/**
 * `ModelCapabilities` of Anthropic's API, which has every key (docs/protocols/anthropic-messages.md#models). Null for a model
 * of which the gateway knows no capabilities; a single one that it does not know is unsupported.
 */
export function toAnthropicCapabilities({ capabilities: known, efforts, thinking }: Facts): object | null {
  if (!known) return null;
  const has = supportIn(known);
  const effort = supportIn(efforts);
  const type = supportIn(thinking);
  return {
    // The gateway serves no batches.
    batch: UNSUPPORTED,
    citations: has('citations'),
    code_execution: UNSUPPORTED,
    context_management: {
      supported: false,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: {
      supported: efforts !== undefined && efforts.length > 0,
      low: effort('low'),
      medium: effort('medium'),
      high: effort('high'),
      xhigh: effort('xhigh'),
      max: effort('max'),
    },
    image_input: has('vision'),
    pdf_input: has('pdf'),
    server_tools: { ...has('search'), code_execution: UNSUPPORTED, web_search: has('search') },
    structured_outputs: has('schema'),
    thinking: {
      ...has('reasoning'),
      types: {
        adaptive: type('adaptive'),
        between_tools: type('between_tools'),
        disabled: type('disabled'),
        enabled: type('enabled'),
      },
    },
  };
}

const UNSUPPORTED = { supported: false } as const;

const supportIn =
  (list: readonly string[] = []) =>
  (name: string): { readonly supported: boolean } => ({ supported: list.includes(name) });
