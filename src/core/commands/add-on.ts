import { registerParts, type AddOnParts } from '../process/add-on-parts.ts';
import type { Command } from './terminal/arguments.ts';

/** An add-on: one folder of src/addons, whose index.ts exports it, and one line of src/addons/index.ts. */
export interface AddOn {
  /** The name of its folder. */
  readonly name: string;
  /** By name, such as `prices list`. A command loads its code when it runs. */
  readonly commands?: readonly (readonly [string, Command])[];
  /** Modules that it starts as threads, such as `src/addons/NAME/thread`: in the package each is a file at its path. */
  readonly threads?: readonly string[];
  /** Loads the code of the add-on. `version` and `help` call none of them. */
  readonly parts?: () => Promise<{ readonly parts: AddOnParts }>;
}

let registering: Promise<void> | undefined;

/** Adds the rows of all add-ons to the tables of the core. Called before the first settings are read; later calls do nothing. */
export const registerAddOns = (addOns: readonly AddOn[]): Promise<void> => (registering ??= registerAll(addOns));

async function registerAll(addOns: readonly AddOn[]): Promise<void> {
  const loaded = await Promise.all(addOns.map((addOn) => addOn.parts?.()));
  // In the order of the table, whichever has loaded first.
  for (const module of loaded) if (module) registerParts(module.parts);
}
