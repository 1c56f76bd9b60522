// The default theme without its web fonts: pages use the fonts of the machine.
import './tables.css';

export { default } from 'vitepress/theme-without-fonts';
