import type { AddOn } from '../../core/commands/add-on.ts';
import { doctorCommands } from './commands.ts';

/** `gatehouse doctor`: checks of the machine, the settings and the way to the providers. */
export const doctor: AddOn = {
  name: 'doctor',
  commands: doctorCommands,
};
