// The default theme without its web fonts: pages use the fonts of the machine.
export { default } from 'vitepress/theme-without-fonts';
