import { configs, oneOf, parse, required, type Command } from '../../../core/commands/terminal/arguments.ts';

const RENDER = { ...configs, variables: { type: 'string' } } as const;

export const promptCommands: readonly (readonly [string, Command])[] = [
  [
    'prompts list',
    {
      usage: 'prompts list [--configs DIR] [--format table|json]',
      help: 'List the prompts with their versions, labels, models and variables',
      async run(args, world) {
        const options = { ...configs, format: { type: 'string', default: 'table' } } as const;
        const { configs: dir, format } = parse(args, options).values;
        const { listPromptsCommand } = await import('./list.ts');
        return listPromptsCommand({ ...world, dir, format: oneOf('format', format, ['table', 'json']) });
      },
    },
  ],
  [
    'prompts render',
    {
      usage: 'prompts render NAME[@VERSION|@LABEL] [--configs DIR] [--variables FILE]',
      help: 'Print the chat request that a prompt makes.\n--variables FILE  their values as JSON (-: standard input); default: examples and defaults',
      async run(args, world) {
        const { values, positionals } = parse(args, RENDER, 1);
        const reference = required(positionals[0], 'prompts render needs the name of a prompt');
        const { renderPromptCommand } = await import('./render.ts');
        return renderPromptCommand({ ...world, dir: values.configs, reference, variables: values.variables });
      },
    },
  ],
  [
    'prompts diff',
    {
      usage: 'prompts diff NAME FROM TO [--configs DIR]',
      help: 'Compare two versions of a prompt, by number or label, with the partials of each',
      async run(args, world) {
        const { values, positionals } = parse(args, configs, 3);
        const needs = 'prompts diff needs a prompt and two versions';
        const id = required(positionals[0], needs);
        const from = required(positionals[1], needs);
        const to = required(positionals[2], needs);
        const { diffPromptsCommand } = await import('./diff.ts');
        return diffPromptsCommand({ ...world, dir: values.configs, id, from, to });
      },
    },
  ],
  [
    'prompts release',
    {
      usage: 'prompts release NAME@VERSION [--configs DIR]',
      help: 'Write the digest of a version beside it: from then on an edit of it, or of a partial, is an error',
      async run(args, world) {
        const { values, positionals } = parse(args, configs, 1);
        const reference = required(positionals[0], 'prompts release needs NAME@VERSION');
        const { releasePromptCommand } = await import('./edit.ts');
        return releasePromptCommand({ ...world, dir: values.configs, reference });
      },
    },
  ],
  [
    'prompts promote',
    {
      usage: 'prompts promote NAME@VERSION LABEL [--configs DIR]',
      help: 'Let a label stand for a released version; everything else in the file stays unchanged',
      async run(args, world) {
        const { values, positionals } = parse(args, configs, 2);
        const needs = 'prompts promote needs NAME@VERSION and a label';
        const reference = required(positionals[0], needs);
        const label = required(positionals[1], needs);
        const { promotePromptCommand } = await import('./edit.ts');
        return promotePromptCommand({ ...world, dir: values.configs, reference, label });
      },
    },
  ],
];
