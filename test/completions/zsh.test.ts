import { testTabs } from "./tabs.ts";

testTabs("zsh");
