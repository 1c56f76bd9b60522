/** Fields that this API names differently from OpenAI's chat API, whose names losses use. */
const NAMES: readonly (readonly [RegExp, ...string[]])[] = [
  [/^user$/, 'metadata.user_id'],
  [/^stop$/, 'stop_sequences'],
  [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
  [/^reasoning_effort$/, 'output_config.effort'],
  // `output_format` is the deprecated spelling (docs/protocols/anthropic-messages.md#output-config).
  [/^response_format(?:\.json_schema)?/, 'output_config.format', 'output_format'],
  [/^(tools\[\d+\])\.function\.parameters/, '$1.input_schema'],
  [/^(tools\[\d+\])\.function\./, '$1.'],
  [/^(messages\[.*?)\.(?:file\.)?filename$/, '$1.title'],
  [/^(messages\[.*)\.mime_type$/, '$1.source.media_type'],
  [/^(messages\[.*)\.function\.arguments$/, '$1.input'],
  // Signatures of calls travel in their ids (tool-ids.ts).
  [/^(messages\[.*)\.function\.thought_signature$/, '$1.id'],
];

export function clientPaths(place: string): readonly string[] {
  const known = NAMES.find(([pattern]) => pattern.test(place));
  if (!known) return [];
  const [pattern, ...spellings] = known;
  return spellings.map((spelling) => place.replace(pattern, spelling));
}
