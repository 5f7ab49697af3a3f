// The settings of a service without any variable, for parts that ask for the settings of an instance.

import { loadConfig } from '../../src/config/config.ts'
import { chooseSettings } from '../../src/config/own-settings.ts'

const standard = chooseSettings(loadConfig({}), {})

export const serviceSettings = () => standard
