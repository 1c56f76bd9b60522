import { Globs } from '../../core/catalog/globs.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Caller, Exchange, PromptDirectory } from '../../core/kernel/index.ts';
import type { CompiledPrompt, CompiledVersion } from './compile.ts';
import { LATEST, PromptLibrary, readReference, versionOf } from './library.ts';
import { partialTexts, promptFilesOf } from './prompt-files.ts';
import type { Settings } from '../../core/settings/read/load.ts';

/** The prompts of the settings, as each caller may use them. */
export function createPromptDirectory(settings: Pick<Settings, 'extras'>): PromptDirectory {
  const files = promptFilesOf(settings);
  const library = new PromptLibrary(files.prompts, partialTexts(files));
  return {
    list: ({ caller }) =>
      [...library.prompts.values()]
        .filter(({ id }) => allows(caller, id))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ id, description, labels, versions }) => ({
          id,
          description,
          labels: Object.fromEntries(labels),
          versions: [...versions.values()].map(({ number, file, variables }) => ({
            version: number,
            released: file.digest !== undefined,
            note: file.note,
            model: file.model,
            variables: Object.fromEntries(variables),
          })),
        })),
    find(exchange, text) {
      const reference = readReference(text);
      if (!reference)
        throw unknown(`${JSON.stringify(text.slice(0, 200))} names no prompt: write ID, ID@VERSION or ID@LABEL.`);
      const { id, selector } = reference;
      // A key restricted to certain prompts cannot find out whether others exist.
      if (!allows(exchange.caller, id))
        throw new GatewayError('prompt_not_allowed', `This key may not use the prompt ${JSON.stringify(id)}.`);
      const prompt = library.prompts.get(id);
      if (!prompt) throw unknown(`There is no prompt ${JSON.stringify(id)}.`);
      const version = choose(prompt, selector, exchange);
      const renderer = library.rendererOf(version);
      return { id, version: version.number, render: (variables, budget) => renderer.render(variables, budget) };
    },
  };
}

/** The version that the request names, else the one that its config pins, else the latest. A pin refuses others. */
function choose(prompt: CompiledPrompt, selector: string | undefined, { config }: Exchange): CompiledVersion {
  const pin = config?.prompts?.get(prompt.id);
  const wanted = selector ?? pin ?? LATEST;
  const version = versionOf(prompt, wanted);
  if (!version)
    throw unknown(`The prompt ${JSON.stringify(prompt.id)} has no version or label ${JSON.stringify(String(wanted))}.`);
  if (pin === undefined || versionOf(prompt, pin) === version) return version;
  throw new GatewayError(
    'prompt_not_allowed',
    `The gateway config ${JSON.stringify(config?.id)} pins the prompt ${JSON.stringify(prompt.id)} to ${JSON.stringify(pin)}.`,
  );
}

const unknown = (message: string): GatewayError => new GatewayError('unknown_prompt', message);

const globs = new WeakMap<Caller, Globs>();

/** A caller is the same object for every request, so its patterns are compiled once. */
function allows(caller: Caller | undefined, id: string): boolean {
  if (!caller?.prompts) return true;
  let own = globs.get(caller);
  if (!own) globs.set(caller, (own = new Globs(caller.prompts)));
  return own.matches(id);
}
