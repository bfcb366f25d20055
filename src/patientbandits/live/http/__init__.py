"""The service: the library of `patientbandits.live.shop` over HTTP."""
